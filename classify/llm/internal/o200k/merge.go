package o200k

import "container/heap"

// none is the token of two neighbours that make none.
const none = 1<<32 - 1

// count merges a piece and returns how many tokens are left. Of all neighbours that make a token those with the lowest
// are merged first, and the leftmost of the same.
func (t *merges) count(piece string) int {
	left := len(piece)
	if left < 2 {
		return left
	}
	parts := make([]part, left)
	var todo queue
	look := func(i int) {
		p := &parts[i]
		p.made = none
		if p.next == len(parts) {
			return
		}
		if made, ok := t.pairs[pair(p.token, parts[p.next].token)]; ok {
			p.made = made
			heap.Push(&todo, step(made, i))
		}
	}
	for i := range parts {
		parts[i] = part{token: t.single[piece[i]], next: i + 1, before: i - 1}
	}
	for i := range parts {
		look(i)
	}
	for len(todo) > 0 {
		made, i := heap.Pop(&todo).(merge).of()
		p := &parts[i]
		if p.made != made {
			continue // one of the two has been merged with another
		}
		gone := &parts[p.next]
		p.token, p.next, gone.made = made, gone.next, none
		if p.next < len(parts) {
			parts[p.next].before = i
		}
		left--
		look(i)
		if p.before >= 0 {
			look(p.before)
		}
	}
	return left
}

// part is some bytes of a piece, known by the first.
type part struct {
	token        uint32
	made         uint32 // the token it makes with the next part
	next, before int    // parts
}

// merge is a token to be made and the part to make it of with its neighbour, in the order in which they are due.
type merge uint64

func step(made uint32, part int) merge { return merge(made)<<32 | merge(part) }

func (m merge) of() (made uint32, part int) { return uint32(m >> 32), int(uint32(m)) }

type queue []merge

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(m any)        { *q = append(*q, m.(merge)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	m := (*q)[last]
	*q = (*q)[:last]
	return m
}
