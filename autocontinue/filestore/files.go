package filestore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const (
	notRegular  = "it is not a regular file"
	maxDocument = 1 << 20 // bytes of a file
	maxLabel    = 200     // bytes of a name in a file
	format      = 1       // of the file around a value
	sessionKind = "sessions"
)

// Document is one value in its own file, as JSON. It is read without a lock, replaced under one, and then set aside if
// it could not be read. If the UnmarshalJSON of T returns an error that wraps [autocontinue.ErrStateVersion], the value
// is of a newer version and stays as it is. A Document is safe for concurrent use, also by processes.
type Document[T any] struct {
	store *Store
	kind  string
	key   string // hex digits of a hash of kind and name
	label string // the beginning of the name, for people
}

// NewDocument returns the document of a kind with a name, which is any string that is not empty. A kind is a folder:
// small letters, digits and "-", at most 32. "sessions", "locks" and "aside" are the store's own. A kind whose meaning
// changes needs a new name. Nothing is read yet.
func NewDocument[T any](s *Store, kind, name string) (*Document[T], error) {
	isKind, _ := regexp.MatchString(`^[a-z][a-z0-9-]{0,31}$`, kind)
	switch {
	case !isKind || slices.Contains([]string{sessionKind, lockFolder, asideFolder}, kind):
		return nil, fmt.Errorf("filestore: %.40q cannot be a kind of document: use small letters, digits and \"-\", "+
			"and not a folder of the store", kind)
	case name == "":
		return nil, errors.New("filestore: the document's name is empty")
	case s == nil:
		return nil, errZero
	}
	return newDocument[T](s, kind, name), nil
}

func newDocument[T any](s *Store, kind string, name ...string) *Document[T] {
	h := sha256.New()
	for _, part := range append([]string{kind}, name...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	label := strings.Join(name, "/")
	return &Document[T]{store: s, kind: kind, key: hex.EncodeToString(h.Sum(nil)), label: label[:min(len(label), maxLabel)]}
}

func (d *Document[T]) file() string { return d.kind + "/" + d.key[:2] + "/" + d.key[:32] + ".json" }

// envelope is what stands in a file around the value.
type envelope struct {
	Format int             `json:"format"`
	Key    string          `json:"key"`             // of the document: a file that was copied or moved is another's
	Name   string          `json:"name"`            // for people
	Unused time.Time       `json:"unused,omitzero"` // when it first looked too old; see sweep
	Value  json.RawMessage `json:"value"`
}

// unreadable says why a file is one that no version of this package wrote. It quotes no more of it than a JSON error.
type unreadable string

func (u unreadable) Error() string { return string(u) }

func isUnreadable(err error) bool {
	_, ok := errors.AsType[unreadable](err)
	return ok
}

// Load returns the value, the zero T if there is none or it cannot be read: the next Update sets such a file aside. It
// sees what an Update wrote that has returned. The errors are those of ctx, [autocontinue.ErrStateVersion] and
// [autocontinue.ErrUnavailable].
func (d *Document[T]) Load(ctx context.Context) (v T, err error) {
	root, err := d.store.open(ctx, false)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	} else if err != nil {
		return v, err
	}
	defer root.Close()
	if v, _, err = d.read(root); isUnreadable(err) {
		err = nil
	}
	return v, err
}

// Update replaces the value by what fn returns for it, the zero T if there was none. Fn is called at most once, with
// the document's lock held: it must not use the store. The errors are those of fn and Load, [ErrTooLarge], and
// [autocontinue.ErrConflict]; after an error nothing was written.
func (d *Document[T]) Update(ctx context.Context, fn func(T) (T, error)) error {
	root, err := d.store.open(ctx, true)
	if err != nil {
		return err
	}
	defer root.Close()
	first, _ := strconv.ParseUint(d.key[:2], 16, 8) // documents in one folder have the same lock, one of 64
	unlock, err := d.store.lock(ctx, root, fmt.Sprintf("%s/%02x", lockFolder, first%64))
	if err != nil {
		return err
	}
	defer unlock()
	v, found, err := d.read(root)
	if why, ok := errors.AsType[unreadable](err); ok {
		err = d.store.setAside(root, d.file(), d.kind, why)
	}
	if err == nil {
		v, err = fn(v)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	value, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if !found {
		d.store.sweep(root, path.Dir(d.file()))
	}
	return d.store.write(root, d.file(), envelope{Format: format, Key: d.key, Name: d.label, Value: value})
}

// read returns the value, and whether there is one. A file that nobody can have written is [unreadable].
func (d *Document[T]) read(root *os.Root) (v T, found bool, err error) {
	data, err := d.store.readFile(root, d.file())
	if data == nil || err != nil {
		return v, false, err
	}
	v, err = d.decode(data)
	return v, err == nil, err
}

func (d *Document[T]) decode(data []byte) (v T, err error) {
	var e envelope
	err = json.Unmarshal(data, &e)
	switch {
	case err != nil:
	case e.Format > format:
		err = fmt.Errorf("%w: format %d, this one reads up to %d", autocontinue.ErrStateVersion, e.Format, format)
	case e.Format < 1:
		err = unreadable("it has no format")
	case e.Key != d.key:
		err = unreadable("it belongs to another document")
	case len(e.Value) == 0:
		err = unreadable("it has no value")
	default:
		var value T
		if err = json.Unmarshal(e.Value, &value); err == nil {
			return value, nil
		}
	}
	if errors.Is(err, autocontinue.ErrStateVersion) {
		return v, fmt.Errorf("filestore: %s: %w", d.store.path(d.file()), err)
	}
	return v, unreadable(err.Error())
}

// readFile returns the content of a file, nil if there is none. Not a regular file, empty or too large is [unreadable].
func (s *Store) readFile(root *os.Root, name string) ([]byte, error) {
	f, err := openRegular(root, name)
	if isUnreadable(err) || f == nil && err == nil {
		return nil, err
	} else if err != nil {
		return nil, s.diskError("read", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxDocument+1))
	switch {
	case err != nil:
		return nil, s.diskError("read", name, err)
	case len(data) > maxDocument:
		return nil, unreadable("it is too large")
	case len(data) == 0:
		return nil, unreadable("it is empty")
	}
	return data, nil
}

// openRegular opens a file, nil if it is missing. What is not a regular file is [unreadable] and is not opened: a named
// pipe would block, and a link leads elsewhere.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, unreadable(notRegular)
	}
	var f *os.File
	if err == nil {
		f, err = root.Open(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// write replaces a document's file. The caller holds the lock, so no other process uses the name of the temporary file.
func (s *Store) write(root *os.Root, name string, e envelope) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}
	if len(data) >= maxDocument {
		return fmt.Errorf("%w: a document of %d bytes", ErrTooLarge, len(data))
	}
	if err = root.MkdirAll(path.Dir(name), 0o700); err == nil {
		err = replace(root, name, strings.TrimSuffix(name, ".json")+".tmp", append(data, '\n'), 0o600, false, !s.opts.NoSync)
	}
	return s.diskError("write", name, err)
}

const (
	asideFolder = "aside"
	maxAside    = 8 // files set aside that are kept
)

// setAside moves a file away. The caller holds its lock.
func (s *Store) setAside(root *os.Root, name, kind string, why unreadable) error {
	now := s.opts.Now().UTC().Format("20060102T150405.000000000Z")
	to := asideFolder + "/" + now + "-" + kind + "-" + path.Base(name)
	err := root.MkdirAll(asideFolder, 0o700)
	if err == nil {
		files, _ := fs.ReadDir(root.FS(), asideFolder) // the oldest first: their names begin with the time
		for _, old := range files[:max(0, len(files)-maxAside+1)] {
			root.Remove(asideFolder + "/" + old.Name()) // a folder that is not empty stays
		}
		err = root.Rename(name, to)
	}
	if err != nil {
		return s.diskError("set aside", name, err)
	}
	if s.opts.OnSetAside != nil {
		s.opts.OnSetAside(kind, fmt.Sprintf("%s could not be read (%s) and was set aside as %s",
			s.path(name), why, s.path(to)))
	}
	return nil
}

const (
	maxLooked  = 16             // files that are looked at, for each new file
	minBetween = 24 * time.Hour // two looks that remove a file
)

// sweep removes files of a folder that nobody used for MaxAge, by their last change. It looks at a few: at the first
// look a file is marked, and removed at one that is a day later. A use in between takes the mark away. The caller holds
// the lock of the folder's files: they all have the same. What fails is left for the next time.
func (s *Store) sweep(root *os.Root, dir string) {
	now := s.opts.Now()
	isOurs := regexp.MustCompile(`^[0-9a-f]{32}\.(json|tmp)$`)
	files, _ := fs.ReadDir(root.FS(), dir)
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, f := range files[:min(len(files), maxLooked)] {
		name := dir + "/" + f.Name()
		info, err := root.Lstat(name)
		if err != nil || now.Sub(info.ModTime()) <= s.opts.MaxAge || !isOurs.MatchString(f.Name()) {
			continue
		}
		var e envelope
		isTemp := strings.HasSuffix(name, ".tmp") // a killed process left it
		data, err := s.readFile(root, name)
		if !isTemp && (err != nil || json.Unmarshal(data, &e) != nil || e.Format != format) {
			continue // who uses it will set it aside
		}
		between := now.Sub(e.Unused)
		switch {
		case isTemp, !e.Unused.IsZero() && between >= minBetween:
			_ = root.Remove(name)
		case e.Unused.IsZero() || between < 0: // marked by a wrong clock
			e.Unused = now.UTC()
			if s.write(root, name, e) == nil {
				_ = root.Chtimes(name, info.ModTime(), info.ModTime()) // so that it is looked at again
			}
		}
	}
}

// WriteFile replaces a file as a whole or not at all. A new file gets the permissions perm, less the umask; an existing
// file keeps those of its own that perm has. The file behind a symbolic link is replaced, not the link. What is not a
// regular file, such as /dev/stdout, is written directly.
func WriteFile(name string, data []byte, perm fs.FileMode) error {
	info, err := os.Stat(name)
	exists := err == nil
	if exists && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, perm)
	} else if exists {
		perm &= info.Mode().Perm()
	}
	for range 40 { // links, one to the next, as many as systems follow
		target, err := os.Readlink(name)
		if err != nil {
			break
		}
		if dir, _ := filepath.Split(name); !filepath.IsAbs(target) {
			target = dir + target
		}
		name = target
	}
	dir, base := filepath.Split(name)
	root, err := os.OpenRoot(cmp.Or(dir, "."))
	if err != nil {
		return err
	}
	defer root.Close()
	return replace(root, base, fmt.Sprintf("%s.%08x.tmp", base, rand.Uint32()), data, perm, exists, true)
}

// replace writes data to the file tmp and renames it. Exact permissions are those whatever the umask takes away. With
// sync, a loss of power leaves the old file or the new one. A file tmp that is there was left by a killed process.
func replace(root *os.Root, name, tmp string, data []byte, perm fs.FileMode, exact, sync bool) error {
	if err := root.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if exact && err == nil {
		err = f.Chmod(perm)
	}
	if sync && err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = root.Rename(tmp, name)
	}
	if err != nil {
		root.Remove(tmp)
	}
	return err
}
