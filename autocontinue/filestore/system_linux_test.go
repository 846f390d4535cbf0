package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

var systemChildren = map[string]func(*filestore.Store, []string) error{
	"full":      fullChild,
	"read-only": readOnlyChild,
}

// onDisk runs a child that has mounts of its own.
func onDisk(t *testing.T, name string) {
	t.Helper()
	cmd := childOf(t, name, t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if strings.Contains(stderr.String(), "mount:") || errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOSPC) {
		t.Skip("this machine does not let a test mount a disk:", err, stderr.String())
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatal(stderr.String())
	}
	require.NoError(t, err)
}

func TestFullDisk(t *testing.T) { onDisk(t, "full") }

func TestReadOnlyDisk(t *testing.T) { onDisk(t, "read-only") }

func mount(dir string, flags uintptr, options string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return nil
}

// checks collects failed assertions, as a child has no testing.T.
type checks []error

func (c *checks) Errorf(format string, args ...any) { *c = append(*c, fmt.Errorf(format, args...)) }

func fullChild(s *filestore.Store, _ []string) error {
	if err := mount(s.Dir(), 0, "mode=700,size=128k"); err != nil {
		return err
	}
	var c checks
	ctx := context.Background()
	assert.NoError(&c, s.Update(ctx, "s", increment))
	assert.NoError(&c, journal(s, `{"n":1}`))
	path := s.Dir() + "/filler"
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()

	big := func(st autocontinue.State) (autocontinue.State, error) { return st.Reset(), nil }
	err = s.Update(ctx, "s", big)
	assert.ErrorIs(&c, err, autocontinue.ErrUnavailable)
	assert.ErrorIs(&c, err, syscall.ENOSPC)
	assert.ErrorContains(&c, err, "no space left on device")
	err = journal(s, strings.Repeat("x", 10_000))
	assert.ErrorIs(&c, err, autocontinue.ErrUnavailable)
	assert.ErrorIs(&c, err, syscall.ENOSPC)
	st, err := s.Load(ctx, "s")
	assert.NoError(&c, err)
	assert.Equal(&c, 1, st.Seq)
	assert.Zero(&c, st.Resets, "nothing was written")

	if err := os.Remove(path); err != nil {
		return err
	}
	assert.NoError(&c, s.Update(ctx, "s", increment), "it goes on when there is room")
	assert.NoError(&c, journal(s, `{"n":2}`))
	var lines []string
	for line, err := range filestore.ReadJournal(ctx, s.Dir(), 0) {
		assert.NoError(&c, err)
		lines = append(lines, string(line))
	}
	assert.Equal(&c, []string{`{"n":1}`, `{"n":2}`}, lines, "no half line")
	return errors.Join(c...)
}

func readOnlyChild(s *filestore.Store, _ []string) error {
	if err := mount(s.Dir(), 0, "mode=700"); err != nil {
		return err
	}
	var c checks
	ctx := context.Background()
	assert.NoError(&c, s.Update(ctx, "s", increment))
	assert.NoError(&c, journal(s, `{"n":1}`))
	if err := mount(s.Dir(), syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		return err
	}
	for _, session := range []string{"s", "new"} {
		err := s.Update(ctx, session, increment)
		assert.ErrorIs(&c, err, autocontinue.ErrUnavailable)
		assert.ErrorIs(&c, err, syscall.EROFS)
	}
	assert.ErrorIs(&c, journal(s, `{}`), autocontinue.ErrUnavailable)
	st, err := s.Load(ctx, "s")
	assert.NoError(&c, err, "reading needs no lock")
	assert.Equal(&c, 1, st.Seq)
	for line, err := range filestore.ReadJournal(ctx, s.Dir(), 0) {
		assert.NoError(&c, err)
		assert.Equal(&c, `{"n":1}`, string(line))
	}
	return errors.Join(c...)
}
