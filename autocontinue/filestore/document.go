package filestore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const (
	maxDocument = 1 << 20 // bytes of a file
	maxLabel    = 200     // bytes of a name in a file
	format      = 1       // of the file around a value
)

// Document is one value in a file of its own, as JSON: read without a lock, replaced under one, set aside when it cannot be
// read. T is whatever encoding/json can write and read back; one whose UnmarshalJSON returns an error that wraps
// [autocontinue.ErrStateVersion] is of a newer version and left alone. It is safe for concurrent use, also by processes.
type Document[T any] struct {
	store *Store
	kind  string
	key   string // hex digits of a hash of kind and name
	label string // name, as far as it can be shown
}

// NewDocument returns the document of a kind with a name, any string that is not empty. A kind is a folder: small letters,
// figures and "-", at most 32; "sessions", "locks" and "aside" are the store's own. What a kind holds must not change its
// meaning: then it gets a new name. Nothing is read yet.
func NewDocument[T any](s *Store, kind, name string) (*Document[T], error) {
	if !isKind(kind) || kind == sessionKind || kind == lockFolder || kind == asideFolder {
		return nil, fmt.Errorf("filestore: %.40q is no kind of document: take small letters, figures and \"-\", and none of the store's own folders", kind)
	}
	if name == "" {
		return nil, errors.New("filestore: a document without a name")
	}
	return newDocument[T](s, kind, name), nil
}

func isKind(s string) bool {
	return s != "" && len(s) <= 32 && 'a' <= s[0] && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

func newDocument[T any](s *Store, kind string, name ...string) *Document[T] {
	h := sha256.New()
	for _, part := range append([]string{kind}, name...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	label := strings.Join(name, "/")
	return &Document[T]{store: s, kind: kind, key: hex.EncodeToString(h.Sum(nil)), label: strings.ToValidUTF8(label[:min(len(label), maxLabel)], "\ufffd")}
}

// file is the document's place, below the store's folder.
func (d *Document[T]) file() string { return d.kind + "/" + d.key[:32] + ".json" }

// envelope is what stands in a file around the value.
type envelope struct {
	Format int             `json:"format"`
	Key    string          `json:"key"`  // that of the document: a file that was copied or moved is another's
	Name   string          `json:"name"` // for people
	Value  json.RawMessage `json:"value"`
}

// Load returns the value, the zero T when there is none. What an Update wrote that has returned is seen. A file that cannot be
// read is set aside, for which the lock is needed. The errors are those of ctx, [autocontinue.ErrStateVersion], [ErrDisk]
// and, where a file has to be set aside, [ErrLocked].
func (d *Document[T]) Load(ctx context.Context) (T, error) {
	var zero T
	if err := ctx.Err(); err != nil {
		return zero, err
	}
	root, err := d.store.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return zero, nil
	} else if err != nil {
		return zero, err
	}
	defer root.Close()
	v, _, err := d.read(root)
	if _, ok := errors.AsType[*unreadable](err); !ok {
		return v, err
	}
	unlock, err := d.store.lock(ctx, root, stripeOf(d.key))
	if err != nil {
		return zero, err
	}
	v, _, aside, err := d.readLocked(root) // it may have been replaced meanwhile
	unlock()
	d.store.tell(aside)
	return v, err
}

// Update replaces the value by what fn returns for it, the zero T if there was none. Fn is called once at most, with the
// document's lock held: it must not use the store. The errors are those of fn and Load, [ErrLocked] and [ErrTooLarge]; with
// an error nothing was written. A value that is written as it was before is not written again.
func (d *Document[T]) Update(ctx context.Context, fn func(T) (T, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	root, err := d.store.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	created, aside, err := d.update(ctx, root, fn)
	d.store.tell(aside)
	if created {
		d.store.sweep(root, d.kind, path.Base(d.file()))
	}
	return err
}

// update does it, and reports whether the file is a new one, and what was set aside.
func (d *Document[T]) update(ctx context.Context, root *os.Root, fn func(T) (T, error)) (created bool, aside *SetAside, err error) {
	unlock, err := d.store.lock(ctx, root, stripeOf(d.key))
	if err != nil {
		return false, nil, err
	}
	defer unlock()
	v, old, aside, err := d.readLocked(root)
	if err != nil {
		return false, aside, err
	}
	if v, err = fn(v); err != nil {
		return false, aside, err
	}
	data, err := d.encode(v)
	if err != nil {
		return false, aside, err
	}
	if err := ctx.Err(); err != nil {
		return false, aside, err
	}
	if bytes.Equal(data, old) {
		return false, aside, nil
	}
	return old == nil, aside, d.store.replace(root, d.file(), data)
}

// readLocked is read with the lock held: what cannot be read is set aside, and there is no value then.
func (d *Document[T]) readLocked(root *os.Root) (v T, data []byte, aside *SetAside, err error) {
	v, data, err = d.read(root)
	why, ok := errors.AsType[*unreadable](err)
	if !ok {
		return v, data, nil, err
	}
	aside, err = d.store.setAside(root, d.file(), d.kind, d.label, why.Error())
	return v, nil, aside, err
}

// read returns the value and the file it came from, nil when there is none. A file that nobody can have written is an
// *unreadable.
func (d *Document[T]) read(root *os.Root) (v T, data []byte, err error) {
	data, err = d.store.readFile(root, d.file(), maxDocument)
	if data == nil || err != nil {
		return v, nil, err
	}
	v, err = d.decode(data)
	return v, data, err
}

func (d *Document[T]) encode(v T) ([]byte, error) {
	value, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	data, err := json.Marshal(envelope{Format: format, Key: d.key, Name: d.label, Value: value})
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	if len(data) >= maxDocument {
		return nil, fmt.Errorf("%w: a document of %d bytes", ErrTooLarge, len(data))
	}
	return append(data, '\n'), nil
}

func (d *Document[T]) decode(data []byte) (v T, err error) {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return v, &unreadable{err.Error()}
	}
	switch {
	case e.Format > format:
		return v, fmt.Errorf("filestore: %s: %w: format %d, this one reads up to %d", d.store.path(d.file()), autocontinue.ErrStateVersion, e.Format, format)
	case e.Format < 1:
		return v, &unreadable{"it has no format"}
	case e.Key != d.key:
		return v, &unreadable{"it is another's"}
	case len(e.Value) == 0:
		return v, &unreadable{"it has no value"}
	}
	var read T
	if err := json.Unmarshal(e.Value, &read); errors.Is(err, autocontinue.ErrStateVersion) {
		return v, fmt.Errorf("filestore: %s: %w", d.store.path(d.file()), err)
	} else if err != nil {
		return v, &unreadable{err.Error()}
	}
	return read, nil
}

// stripeOf returns the number of the lock of a document by its key, or by how the name of its file begins.
func stripeOf(key string) int {
	b, err := hex.DecodeString(key[:2])
	if err != nil {
		return 0
	}
	return int(b[0]) % stripes
}
