package hook

import (
	"bytes"
	"io"
	"strings"
)

// foreign are the beginnings of files that people take for transcripts, or have in their place.
var foreign = []struct{ begins, what string }{
	{"\xff\xfe\x00\x00", "it is UTF-32: convert it to UTF-8 first, as with iconv -f UTF-32 -t UTF-8"},
	{"\x00\x00\xfe\xff", "it is UTF-32: convert it to UTF-8 first, as with iconv -f UTF-32 -t UTF-8"},
	{"\xff\xfe", utf16Text},
	{"\xfe\xff", utf16Text},
	{"\x1f\x8b", "it is packed with gzip: unpack it first, with gunzip"},
	{"BZh", "it is packed with bzip2: unpack it first, with bunzip2"},
	{"\xfd7zXZ\x00", "it is packed with xz: unpack it first, with unxz"},
	{"\x28\xb5\x2f\xfd", "it is packed with zstd: unpack it first, with unzstd"},
	{"PK\x03\x04", "it is a ZIP archive: unpack it first, with unzip"},
	{"7z\xbc\xaf\x27\x1c", "it is a 7z archive: unpack it first"},
	{"SQLite format 3\x00", "it is an SQLite database, such as the state.vscdb of Cursor, whose transcripts are below ~/.cursor/projects"},
	{"%PDF-", "it is a PDF"},
	{"\x89PNG\r\n\x1a\n", "it is a picture"},
	{"\xff\xd8\xff", "it is a picture"},
	{"GIF8", "it is a picture"},
}

const utf16Text = "it is UTF-16, as Windows PowerShell writes with >: convert it to UTF-8 first, as with iconv -f UTF-16 -t UTF-8"

// isForeign says what a file is that is certainly none of the formats, and what to do about it, "" where it may be one.
func isForeign(r io.ReaderAt, size int64) string {
	head := make([]byte, min(size, 16))
	n, _ := r.ReadAt(head, 0)
	head = head[:n]
	for _, f := range foreign {
		if bytes.HasPrefix(head, []byte(f.begins)) {
			return f.what
		}
	}
	if n >= 4 && (head[0] > ' ' && head[1] == 0 && head[2] != 0 && head[3] == 0 || head[0] == 0 && head[1] > ' ' && head[2] == 0 && head[3] != 0) {
		return utf16Text
	}
	return ""
}

// isUnlined says what is wrong with a file that has the lines of a transcript, but not each on a line, "" where it has not.
func isUnlined(r io.ReaderAt, size int64) string {
	d := newDocument(r, min(size, maxHead), &lines{})
	c := d.peek()
	array := c == '['
	if array {
		d.take(1, 0)
		c = d.peek()
	}
	begins := d.line
	if c != '{' || !d.value(maxLine) || d.over || formatOf(d.rec) == "" {
		return ""
	}
	if array {
		return "its lines are elements of a JSON array: write each on a line of its own first, as with jq -c '.[]'"
	}
	if d.line > begins || d.peek() == '{' && d.line == begins {
		return "its JSON objects are not on a line each: write them so first, as with jq -c ."
	}
	return ""
}

// shapeless says of a file that is none of the formats what it may be.
func shapeless(r io.ReaderAt, size int64) string {
	head := make([]byte, min(size, 4<<10))
	n, _ := r.ReadAt(head, 0)
	switch head = head[:n]; {
	case bytes.IndexByte(head, 0) >= 0:
		return "it is no text: a transcript is JSON Lines, JSON or Markdown"
	case len(strings.TrimSpace(string(head))) == 0:
		return "it is blank"
	}
	d := newDocument(r, min(size, maxHead), &lines{})
	if d.peek() == '{' && !d.value(1) && d.cut {
		if size > maxHead {
			return "its first line is longer than 8 MiB"
		}
		return "its first line is cut off"
	}
	return "none of its first lines is one of a transcript; those of " + formatNames() + " are read"
}
