package classifytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func bodyOf(t *testing.T, texts ...string) any {
	t.Helper()
	messages := []any{}
	for i, s := range texts {
		messages = append(messages, map[string]any{"role": []string{"system", "user"}[min(i, 1)], "content": s})
	}
	return map[string]any{"messages": messages}
}

// The cassette of the same case is named also where another's is more alike.
func TestNearestIsOfTheSameCase(t *testing.T) {
	c := &Cassettes{tapes: map[string]*tape{}}
	for name, text := range map[string]string{"mine": "a\nb\nx", "other": "a\nb\nc", "third": "a\nb\nc\nd"} {
		c.tapes[name] = &tape{cassette: cassette{Case: name, Request: cassetteRequest{Body: bodyOf(t, text)}}, name: name}
	}
	asked := cassette{Case: "mine", Request: cassetteRequest{Body: bodyOf(t, "a\nb\nc")}}
	for range 20 { // in whatever order the map gives them
		near, alike := c.nearest(asked)
		require.Equal(t, "mine", near.name)
		require.InDelta(t, 0.75, alike, 1e-9) // a, b and the role of four lines
		asked.Case = "new"
		near, alike = c.nearest(asked)
		require.Equal(t, "other", near.name)
		require.InDelta(t, 1, alike, 1e-9)
		asked.Case = "mine"
	}
}

func TestDifferencesAreFew(t *testing.T) {
	var a, b []string
	for i := range 50 {
		a, b = append(a, fmt.Sprint("old ", i)), append(b, fmt.Sprint("new ", i))
	}
	old, now := cassetteRequest{Body: bodyOf(t, a...)}, cassetteRequest{Body: bodyOf(t, b...)}
	list := differences(old, now, false)
	assert.Len(t, list, 3*maxDifferences+1)
	assert.Equal(t, "and more", list[len(list)-1])
	assert.Equal(t, []string{"messages[0].content (system) changed at line 1:", "\t- old 0", "\t+ new 0"}, differences(old, now, true))
	assert.Empty(t, differences(old, old, false))
}

func TestClip(t *testing.T) {
	for _, tt := range []struct {
		in     string
		around int
		want   string
	}{
		{"", 5, ""},
		{strings.Repeat("a", 100), 50, strings.Repeat("a", 100)},
		{strings.Repeat("a", 150), 0, strings.Repeat("a", 100) + "…"},
		{strings.Repeat("a", 100) + strings.Repeat("b", 100), 140, "…" + strings.Repeat("b", 100)},
		{strings.Repeat("a", 100) + strings.Repeat("b", 100), 9999, "…" + strings.Repeat("b", 100)},
		{strings.Repeat("ä", 100), 61, "…" + strings.Repeat("ä", 50) + "…"},
	} {
		assert.Equal(t, tt.want, clip(tt.in, tt.around))
	}
}
