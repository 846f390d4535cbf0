package hook

// reach is how far back a transcript is read.
type reach struct {
	bytes int64
	lines int
}

// farReach is that of a hook.
var farReach = reach{maxTail, maxLines}

// has reports whether a line is read back to from the end of a session of that size, whose last line has that number.
func (r reach) has(k mark, size int64, last int) bool {
	return last-k.no+1 < r.lines && (k.at > size-r.bytes || k.at == 0 && size <= r.bytes)
}

// whole reports whether all of it is.
func (r reach) whole(size int64, last int) bool { return last < r.lines && size <= r.bytes }
