package autocontinue

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// key stands for a host's ID or an agent's text in a state, so that a state is bounded whatever their lengths are. The
// zero key stands for none.
type key [9]byte

func (k key) MarshalText() ([]byte, error) { return keys{k}.MarshalText() }

func (k *key) UnmarshalText(text []byte) error {
	var ks keys
	if err := ks.UnmarshalText(text); err != nil {
		return err
	}
	if len(ks) != 1 {
		return fmt.Errorf("autocontinue: %d keys instead of one", len(ks))
	}
	*k = ks[0]
	return nil
}

// keys is written as one string, 12 characters a key.
type keys []key

func (ks keys) MarshalText() ([]byte, error) {
	var text []byte
	for _, k := range ks {
		text = base64.RawURLEncoding.AppendEncode(text, k[:])
	}
	return text, nil
}

func (ks *keys) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil {
		return fmt.Errorf("autocontinue: keys: %w", err)
	}
	if len(raw)%len(key{}) != 0 {
		return fmt.Errorf("autocontinue: keys of %d bytes", len(raw))
	}
	*ks = make(keys, 0, len(raw)/len(key{}))
	for ; len(raw) > 0; raw = raw[len(key{}):] {
		*ks = append(*ks, key(raw))
	}
	return nil
}

// What a key stands for. Equal strings of different kinds have different keys.
const (
	turnKey     = "turn"
	runKey      = "run"
	outputKey   = "output"
	textKey     = "text"
	messageKey  = "message"
	printKey    = "fingerprint"
	blankKey    = "blank"
	feedbackKey = "feedback"
)

func keyOf(kind, s string) (k key) {
	if len(s) > 1024 {
		var d digest
		d.start(kind)
		d.writeString(s)
		return d.key()
	}
	var buf [1280]byte // stays on the stack
	sum := sha256.Sum256(append(appendField(buf[:0], kind), s...))
	copy(k[:], sum[:])
	return k
}

// appendField appends s so that where it ends cannot be mistaken.
func appendField(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// decisionID is [Decision.ID] in short.
type decisionID [16]byte

// newDecisionID returns the ID of the decision about o: the seq-th of the state, when o has no ID.
func newDecisionID(o Output, seq int) (id decisionID) {
	var buf [256]byte
	b := appendField(appendField(appendField(buf[:0], "decision"), o.Session), o.Run)
	if o.ID != "" {
		b = appendField(append(b, 'i'), o.ID)
	} else {
		b = binary.BigEndian.AppendUint64(append(b, 's'), uint64(seq))
	}
	sum := sha256.Sum256(b)
	copy(id[:], sum[:])
	return id
}

func (id decisionID) String() string { return hex.EncodeToString(id[:]) }

func (id decisionID) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, id[:]), nil
}

func (id *decisionID) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.AppendDecode(nil, text)
	if err != nil || len(raw) != len(id) {
		return fmt.Errorf("autocontinue: decision ID of %d characters", len(text))
	}
	copy(id[:], raw)
	return nil
}

// digest hashes a long string piece by piece, to the same key as [keyOf].
type digest struct {
	rest *restDigest // nil until buf was full
	buf  [1024]byte
	n    int
}

// restDigest is apart, so that a digest of a short string stays on the stack: what is given to a [hash.Hash] does not.
type restDigest struct {
	hash.Hash
	buf [1024]byte
}

func (d *digest) start(kind string) { d.n = len(appendField(d.buf[:0], kind)) }

func (d *digest) writeByte(b byte) {
	if d.n == len(d.buf) {
		d.flush()
	}
	d.buf[d.n] = b
	d.n++
}

func (d *digest) writeString(s string) {
	for len(s) > 0 {
		if d.n == len(d.buf) {
			d.flush()
		}
		n := copy(d.buf[d.n:], s)
		d.n, s = d.n+n, s[n:]
	}
}

func (d *digest) flush() {
	if d.rest == nil {
		d.rest = &restDigest{Hash: sha256.New()}
	}
	d.rest.Write(d.rest.buf[:copy(d.rest.buf[:], d.buf[:d.n])])
	d.n = 0
}

func (d *digest) key() (k key) {
	if d.rest == nil {
		sum := sha256.Sum256(d.buf[:d.n])
		copy(k[:], sum[:])
		return k
	}
	d.flush()
	copy(k[:], d.rest.Sum(d.rest.buf[:0]))
	return k
}
