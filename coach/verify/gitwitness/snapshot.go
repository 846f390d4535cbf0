package gitwitness

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Snapshot is the state of a working tree at some time, for a baseline.
type Snapshot struct {
	Root string `json:"root"` // the top of the working tree
	Head string `json:"head"` // the commit that was checked out; empty before the first
	Tree string `json:"tree"` // of the working tree, in Store
	// Store is the folder that holds what is in no commit. The snapshot is of use as long as the folder is there.
	Store string `json:"store"`
}

// Take remembers the working tree that dir is in. It writes the files that are not committed to the folder store,
// which the caller removes some day. Several snapshots may share a store.
func Take(ctx context.Context, dir, store string) (_ Snapshot, err error) {
	defer wrap(&err)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Snapshot{}, err
	}
	r, err := open(ctx, abs)
	if err != nil {
		return Snapshot{}, err
	}
	s, err := newStore(store)
	if err != nil {
		return Snapshot{}, err
	}
	tree, err := s.snapshot(ctx, r, 0)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{Root: r.root, Head: r.head, Tree: tree, Store: store}, nil
}

// base is what a tree is compared with.
type base struct {
	name   string // for people and for the facts
	commit string // at which the work began; empty before the first
	tree   string
	exact  bool // the tree is that of a snapshot: files that were not committed count
}

// find returns the baseline of a query: the revision that it names, else the snapshot of the host.
func (w *Witness) base(ctx context.Context, v *view, revision string) (*base, error) {
	if revision != "" {
		commit, err := v.baseline(ctx, revision)
		if err != nil {
			return nil, fmt.Errorf("the baseline: %w", err)
		}
		tree, err := v.store.baseTree(ctx, v.repository, commit)
		if err != nil {
			return nil, fmt.Errorf("the baseline: %w", err)
		}
		return &base{commit, commit, tree, false}, nil
	}
	s := w.cfg.Base
	if s == nil {
		return nil, nil
	}
	if s.Root != v.root {
		return nil, fmt.Errorf("the baseline is of another folder")
	}
	if _, err := v.mine.run(ctx, nil, "cat-file", "-e", s.Tree+"^{tree}"); err != nil {
		return nil, fmt.Errorf("the baseline is gone")
	}
	return &base{"snapshot " + s.Tree, s.Head, s.Tree, true}, nil
}

// view is the working tree at one time.
type view struct {
	*repository
	store *store
	mine  *repository       // with the store
	tree  string            // of the working tree
	empty string            // the tree without files
	read  map[string][]byte // the texts of objects
}

// view reads the working tree into the witness's store.
func (w *Witness) view(ctx context.Context) (*view, error) {
	r, err := open(ctx, w.cfg.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range w.cfg.Own {
		if abs, err := filepath.Abs(name); err == nil {
			if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
				r.own = append(r.own, filepath.Join(dir, filepath.Base(abs)))
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dir == "" {
		if w.dir, err = os.MkdirTemp("", "gitwitness-"); err != nil {
			return nil, err
		}
	}
	s, err := newStore(w.dir)
	if err != nil {
		return nil, err
	}
	for _, snap := range []*Snapshot{w.cfg.Base, w.cfg.First} {
		if snap != nil {
			s.others = append(s.others, filepath.Join(snap.Store, "objects"))
		}
	}
	v := &view{repository: r, store: s}
	if v.tree, err = s.snapshot(ctx, r, 0); err != nil {
		return nil, fmt.Errorf("the working tree cannot be read: %w", err)
	}
	v.mine = s.in(r, "index-view")
	v.empty, err = v.mine.line(ctx, "hash-object", "-w", "-t", "tree", "--stdin")
	return v, err
}

// diff returns the raw differences between two trees.
func (v *view) diff(ctx context.Context, from, to string) ([]difference, error) {
	fields, err := v.mine.names(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-ext-diff",
		from, to)
	if err != nil {
		return nil, err
	}
	var list []difference
	for i := 0; i+1 < len(fields); i += 2 {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree gave %q", fields[i])
		}
		list = append(list, difference{path: fields[i+1], status: meta[4], old: meta[2], now: meta[3],
			link: meta[0] == "160000" || meta[1] == "160000"})
	}
	return list, nil
}

type difference struct {
	path, status string
	old, now     string // the objects
	link         bool   // it is a submodule
}

// texts returns the contents of objects, at most 4 MiB of each. One that is not there has none.
func (v *view) texts(ctx context.Context, objects []string) (map[string][]byte, error) {
	found := map[string][]byte{}
	var wanted []string
	for _, o := range objects {
		if text, ok := v.read[o]; ok {
			found[o] = text
		} else if strings.Trim(o, "0") != "" && !slices.Contains(wanted, o) {
			wanted = append(wanted, o)
		}
	}
	if len(wanted) == 0 {
		return found, nil
	}
	sizes, err := v.mine.run(ctx, []byte(strings.Join(wanted, "\n")+"\n"), "cat-file", "--batch-check")
	if err != nil {
		return nil, err
	}
	var names strings.Builder
	for line := range strings.Lines(string(sizes)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		kind, size, _ := strings.Cut(rest, " ")
		if n, err := strconv.Atoi(size); err == nil && kind == "blob" && n < maxSource {
			names.WriteString(name + "\n")
		} else if kind == "blob" {
			text := answer{max: maxSource}
			if err := v.mine.stream(ctx, nil, &text, "cat-file", "blob", name); err == nil || text.over {
				found[name] = text.text.Bytes()
			}
		}
	}
	all, err := v.mine.run(ctx, []byte(names.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	for len(all) > 0 { // NAME blob SIZE, the content, each with the end of a line
		head, rest, _ := bytes.Cut(all, []byte("\n"))
		fields := strings.Fields(string(head))
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil || len(fields) != 3 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file gave %q", head)
		}
		found[fields[0]], all = rest[:size:size], rest[size+1:]
	}
	if v.read == nil {
		v.read = map[string][]byte{}
	}
	maps.Copy(v.read, found)
	return found, ctx.Err()
}

const (
	maxSource = 4 << 20 // bytes of a file that are read
	maxTexts  = 400     // test files that are compared
)
