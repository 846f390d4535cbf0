package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// journal is the file that a session writes before it changes.
type journal struct {
	f    *os.File
	size int64 // of the whole lines
}

// openJournal locks a file, replays it, and leaves it ready for more lines. It removes a line that a crash cut short.
func openJournal(name string, policy gate.Policy, o gate.Options) (*gate.Session, *journal, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	// Two programs that write would damage the file.
	if ok, err := tryLock(f); err != nil || !ok {
		f.Close()
		if err == nil {
			err = errors.New("another program has it open; end it, or choose another folder with -dir")
		}
		return nil, nil, fmt.Errorf("lock the journal %s: %w", name, err)
	}
	j := &journal{f: f}
	o.Journal = j.write
	s, err := gate.Replay(policy, o, f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	_, _, j.size = s.Head()
	if err := j.back(); err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, j, nil
}

// write appends lines and waits for the disk, or leaves the file as it was.
func (j *journal) write(lines []byte) error {
	_, err := j.f.Write(lines)
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return errors.Join(err, j.back())
	}
	j.size += int64(len(lines))
	return nil
}

func (j *journal) back() error {
	if err := j.f.Truncate(j.size); err != nil {
		return err
	}
	_, err := j.f.Seek(j.size, io.SeekStart)
	return err
}
