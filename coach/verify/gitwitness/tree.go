package gitwitness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const maxNested = 5 // repositories inside one another

// tree returns a hash of the working tree: names, contents and modes of all files that are tracked or not ignored, of ignored Go
// files beside them, which go builds all the same, and of the repositories inside it, such as submodules that are checked out. No content goes through git, so that nothing that
// its settings name is run, and nothing is written.
func (r *repository) tree(ctx context.Context) (string, error) {
	sum := sha256.New()
	if err := r.hash(ctx, sum, 0); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func (r *repository) hash(ctx context.Context, sum hash.Hash, depth int) error {
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return err
	}
	defer root.Close()
	tracked, err := r.tracked(ctx)
	if err != nil {
		return err
	}
	names, err := r.untracked(ctx)
	if err != nil {
		return err
	}
	for name := range tracked {
		names = append(names, name)
	}
	ignored, err := r.ignoredFiles(ctx)
	if err != nil {
		return err
	}
	for _, name := range ignored {
		if strings.HasSuffix(name, ".go") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.hashFile(ctx, sum, root, strings.TrimSuffix(name, "/"), depth); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// hashFile writes one file to sum. What is not there leaves no trace.
func (r *repository) hashFile(ctx context.Context, sum hash.Hash, root *os.Root, name string, depth int) error {
	local := filepath.FromSlash(name)
	info, err := root.Lstat(local)
	if err != nil {
		// A folder that became a file, or a link that leads out, hides what git knows below it.
		return nil
	}
	entry := func(kind string, size int64) {
		fmt.Fprintf(sum, "%s %d %d:%s\x00", kind, size, len(name), name)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		kind := "file"
		if runtime.GOOS != "windows" && mode&0o100 != 0 {
			kind = "program"
		}
		f, err := root.Open(local)
		if errors.Is(err, fs.ErrPermission) {
			entry("unreadable", info.Size())
			return nil
		} else if err != nil {
			return nil // gone since
		}
		defer f.Close()
		entry(kind, info.Size())
		content := sha256.New()
		if _, err := io.Copy(content, &stoppable{ctx, f}); err != nil {
			return err
		}
		_, err = sum.Write(content.Sum(nil))
		return err
	case mode&fs.ModeSymlink != 0:
		target, err := root.Readlink(local)
		if err != nil {
			return nil // gone since
		}
		entry("link", int64(len(target)))
		_, err = io.WriteString(sum, target)
		return err
	case mode.IsDir():
		return r.hashNested(ctx, sum, name, depth)
	default:
		entry(mode.Type().String(), 0)
		return nil
	}
}

// hashNested writes the repository in a folder to sum, by its files and the commit that it has checked out.
func (r *repository) hashNested(ctx context.Context, sum hash.Hash, name string, depth int) error {
	if depth == maxNested {
		return fmt.Errorf("more than %d repositories inside one another", maxNested)
	}
	full := filepath.Join(r.root, filepath.FromSlash(name))
	if _, err := os.Lstat(filepath.Join(full, ".git")); err != nil {
		return nil // a submodule that is not checked out
	}
	nested, err := open(ctx, r.program, full)
	if err != nil {
		return err
	}
	if nested.sub != "." {
		return nil
	}
	fmt.Fprintf(sum, "repository %s %d:%s\x00", nested.head, len(name), name)
	if err := nested.hash(ctx, sum, depth+1); err != nil {
		return err
	}
	_, err = io.WriteString(sum, "end of "+path.Base(name)+"\x00")
	return err
}

// stoppable is a reader that ends with a context.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
