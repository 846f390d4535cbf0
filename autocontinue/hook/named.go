package hook

import (
	"cmp"
	"hash/maphash"
	"io"
	"slices"
)

// named are the messages of a session by their IDs, as far back as a transcript is read. A later line may stand in place of
// one, change it or take it back, and then both must be read. IDs are held as hashes: two that are the same mark a line more.
type named struct {
	list  []namedLine
	gone  int            // lines that were forgotten before those of list
	last  map[uint64]int // the last line of each ID, of all lines from the first
	seed  maphash.Seed
	about about // what the line that comes next is
}

type namedLine struct {
	mark
	before int // the line before with that ID, of all lines from the first; -1 is none
	marked bool
}

// about says of what messages a line is.
type about struct {
	names   []string // the IDs of the one that it is, or that it takes back or adds to
	changes bool     // it must be read, whatever these say
	targets []string // the IDs of messages that must be read with it
}

func newNamed() *named { return &named{last: make(map[uint64]int), seed: maphash.MakeSeed()} }

// add takes in a line, of which it is known whether what it says matters, and reports whether it must be read. With it, lines
// before it come to matter.
func (n *named) add(m *marks, k mark, matters bool) bool {
	a := n.about
	n.about = about{}
	for _, id := range a.targets {
		for i := n.find(n.hash(id)); i >= n.gone && !n.list[i-n.gone].marked; i = n.list[i-n.gone].before {
			one := &n.list[i-n.gone]
			one.marked = true
			if at, known := slices.BinarySearchFunc(m.list, one.at, func(k mark, at int64) int { return cmp.Compare(k.at, at) }); !known {
				m.list = slices.Insert(m.list, at, one.mark)
			}
		}
	}
	matters = matters || a.changes || len(a.targets) > 0
	for _, id := range a.names {
		if i := n.find(n.hash(id)); i >= n.gone {
			matters = matters || n.list[i-n.gone].marked
		}
	}
	for _, id := range a.names {
		h := n.hash(id)
		before := n.find(h)
		n.last[h] = n.gone + len(n.list)
		n.list = append(n.list, namedLine{mark: k, before: before, marked: matters})
	}
	if len(a.names) == 0 {
		n.list = append(n.list, namedLine{mark: k, before: -1})
	}
	n.forget(m.reach, k)
	return matters
}

func (n *named) hash(id string) uint64 { return maphash.String(n.seed, id) }

func (n *named) find(id uint64) int {
	if i, ok := n.last[id]; ok {
		return i
	}
	return -1
}

// forget drops what is out of reach, seldom.
func (n *named) forget(r reach, k mark) {
	half := len(n.list) / 2
	if half < min(2048, r.lines) || r.has(n.list[half].mark, k.at+int64(k.size), k.no) {
		return
	}
	n.list = slices.Clone(n.list[half:])
	n.gone += half
	for id, i := range n.last {
		if i < n.gone {
			delete(n.last, id)
		}
	}
}

// records hands out the messages of a document from the last to the first, as [tail] does lines.
type records struct {
	r     io.ReaderAt
	list  []namedLine
	reach reach
	size  int64
	last  int
	buf   []byte
	begun bool // the last one was handed out, which is read however long it is
	err   error
}

func (t *records) prev() (record []byte, at int64, ok bool) {
	for len(t.list) > 0 {
		k := t.list[len(t.list)-1].mark
		t.list = t.list[:len(t.list)-1]
		if k.at >= t.size {
			continue
		}
		if t.begun && !t.reach.has(k, t.size, t.last) {
			break
		}
		t.begun = true
		if cap(t.buf) < k.size {
			t.buf = make([]byte, k.size)
		}
		if n, err := t.r.ReadAt(t.buf[:k.size], k.at); n < k.size {
			t.err = err // it shrank while it was read
			break
		}
		return t.buf[:k.size], k.at, true
	}
	t.list = nil
	return nil, 0, false
}

func (t *records) whole() bool    { return t.err == nil && t.reach.whole(t.size, t.last) }
func (t *records) failure() error { return t.err }
func (t *records) leftOut() int   { return 0 }
