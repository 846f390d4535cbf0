package gowitness

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChoice(t *testing.T) {
	for _, tt := range []struct {
		run, skip, name string
		want            bool
	}{
		{"", "", "TestA", true},
		{"A", "", "TestA", true},
		{"^A", "", "TestA", false},
		{"TestB", "", "TestA", false},
		{"TestB|TestA", "", "TestA", true},
		{"Test(B|A)$", "", "TestA", true},
		{"TestA/case", "", "TestA", true},
		{"TestB/x|TestA/y", "", "TestA", true},
		{"Test[|/A]$", "", "TestA", true},
		{`Test\|A`, "", "TestA", false},
		{"/case", "", "TestA", true},
		{"[", "", "TestA", false},
		{"", "TestA", "TestA", false},
		{"", "TestA/case", "TestA", true},
		{"", "TestB|TestA", "TestA", false},
		{"Test", "A$", "TestB", true},
	} {
		assert.Equal(t, tt.want, choice{tt.run, tt.skip}.takes(tt.name), "-run %q -skip %q: %s", tt.run, tt.skip, tt.name)
	}
}
