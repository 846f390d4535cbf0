package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

func newHookUninstall(t terminal) *cobra.Command {
	var o installOptions
	cmd := &cobra.Command{
		Use:   "uninstall HOST [--user|--project]",
		Short: "Take the hook out of a host's settings",
		Long: `uninstall undoes install --write: where nothing else was changed since, it puts
back the file that install kept, or takes away the one that install made. Else
it takes the lines that run sidecoach out, leaves everything else as it is, and
a copy of the file before beside it. Where such a line does something else as
well, nothing is written. What the hook remembered stays in its folder, which is
named.`,
		Example: `  sidecoach hook uninstall claude
  sidecoach hook uninstall gemini --project`,
		DisableFlagsInUseLine: true,
		Args:                  oneHost("uninstall"),
		ValidArgs:             hostNames(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.uninstall(cmd.OutOrStdout(), hook.Host(args[0]), t)
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.write, "write", true, "take them out; with --write=false only say how many there are")
	return cmd
}

// uninstall takes the hook out of all settings of the scope that have it.
func (o *installOptions) uninstall(stdout io.Writer, h hook.Host, t terminal) error {
	files, err := o.files(h)
	if err != nil {
		return err
	}
	n := installation{host: h}
	if n.binary, err = os.Executable(); err != nil {
		n.binary = "sidecoach"
	}
	said := ""
	for _, file := range files {
		text, err := o.takeOut(n, file)
		if said += text; err != nil {
			_ = t.tell(stdout, said)
			return err
		}
	}
	switch {
	case said == "":
		said = "not installed in " + files[0] + "\n"
	case o.write:
		said += leftovers()
	}
	return t.tell(stdout, said)
}

// leftovers names the folder with what was remembered, by whatever agent, where there is one: uninstall leaves it.
func leftovers() string {
	dir, err := stateDir()
	if err != nil {
		return ""
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return "what it remembered of all agents stays in " + dir + "\n"
}

// takeOut takes the hook out of one file and returns what to say; "" where it is not there.
func (o *installOptions) takeOut(n installation, file string) (string, error) {
	f, err := openSettings(file)
	if err != nil {
		return "", err
	}
	text, times, err := n.unmerge(f.text)
	if err == nil {
		times += n.flatLines(f.text)
	}
	switch {
	case err != nil:
		return "", f.unsafe(err)
	case times == 0:
		return "", nil
	case printedOnly(n.host) && nothingElse(f.text, times):
		return "delete " + file + ": it has nothing but the hook\n", nil
	case printedOnly(n.host):
		return "remove the lines that run sidecoach from " + file + "\n", nil
	case !o.write:
		return fmt.Sprintf("installed in %s: %s\n", file, plural(times, "line")), nil
	}
	said := "taken out of " + file + "\n"
	copies := f.copies()
	for _, name := range copies {
		before, err := os.ReadFile(name)
		if err == nil && n.made(f.text, before) {
			if err := f.putBack(before); err != nil {
				return "", err
			}
			return said + "it is what it was before install\n", os.Remove(name)
		}
	}
	if !f.isLink() && len(f.mark) == 0 && n.made(f.text, nil) {
		return said + "install had made the file, so it is gone\n", f.remove()
	}
	kept, err := f.replace(text, len(copies) == 0)
	if err != nil {
		return "", err
	}
	switch {
	case kept != "":
		said += "the file before is kept as " + kept + "\n"
	case len(copies) > 0:
		said += "it was changed since install; the file before that is kept as " + copies[0] + "\n"
	}
	return said, nil
}

// made reports whether text is what install made of a file's bytes, and nobody changed since.
func (n installation) made(text, before []byte) bool {
	s, err := n.parse(text)
	if err != nil {
		return false
	}
	places, err := s.ours()
	if err != nil || len(places) == 0 {
		return false
	}
	n.command = places[0].line
	_, before = withoutMark(before)
	merged, err := n.merge(before)
	return err == nil && bytes.Equal(merged, text)
}
