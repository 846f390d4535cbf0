package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// openPlan opens the working tree, which is a directory and what is below it, and returns the plan's name in it, with
// slashes. The plan can be read and lies in the tree, whatever symbolic links it takes. The caller closes the tree.
func openPlan(dir, name string) (*os.Root, string, error) {
	dir, err := filepath.Abs(dir)
	local, ok := "", false
	if err == nil {
		local, ok = inWorkingTree(dir, name)
	}
	if !ok {
		return nil, "", outside(name)
	}
	tree, err := os.OpenRoot(dir)
	if err != nil {
		return nil, "", badInput("run sidecoach in a directory that can be read",
			"cannot open the working tree: %v", cause(err))
	}
	if err := readable(tree, dir, local, name); err != nil {
		tree.Close()
		return nil, "", err
	}
	return tree, filepath.ToSlash(local), nil
}

// readable returns an error unless local is a regular file in the tree that can be opened. The errors call it name.
func readable(tree *os.Root, dir, local, name string) error {
	info, err := tree.Stat(local) // before Open, which would wait for the writer of a named pipe
	if err != nil {
		_, beyond := os.Stat(filepath.Join(dir, local))
		switch {
		case beyond == nil && !errors.Is(err, fs.ErrPermission):
			return outside(name) // it is there, but not for those who stay in the tree
		case errors.Is(err, fs.ErrNotExist):
			return badInput("--plan takes the name of a Markdown file in the working tree", "no such plan: %q", name)
		}
		return unreadable(name, err)
	}
	if !info.Mode().IsRegular() {
		return badInput("--plan takes the name of a Markdown file", "the plan %q is not a regular file", name)
	}
	f, err := tree.Open(local)
	if err != nil {
		return unreadable(name, err)
	}
	return f.Close()
}

func outside(name string) error {
	return badInput("run sidecoach in the directory with the plan, or in one above it",
		"the plan %q lies outside the working tree", name)
}

func unreadable(name string, err error) error {
	return badInput("check its name and permissions", "cannot open the plan %q: %v", name, cause(err))
}

// inWorkingTree returns name relative to dir, an absolute one, if that is where it lies.
func inWorkingTree(dir, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	if local, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(local) {
		return local, true
	}
	// $PWD, or the name, may lead here by another road. What the name itself is stays to the tree: it follows no link out.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	if local, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(local) {
		return local, true
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil {
		return "", false
	}
	local, err := filepath.Rel(dir, filepath.Join(parent, filepath.Base(name)))
	return local, err == nil && filepath.IsLocal(local)
}
