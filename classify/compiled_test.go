package classify

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the compiled tables anew")

// The compiled tables are those of the text tables, and what is read from them is what is read from the texts.
func TestCompiledTables(t *testing.T) {
	fsys, err := fs.Sub(embedded, "lexicon")
	require.NoError(t, err)
	names, _, err := tableFiles(fsys)
	require.NoError(t, err)
	for i, name := range tongueNames {
		files := tongue(i).files(names)
		want, err := parseLexicon(fsys, files...)
		require.NoError(t, err)
		sum, err := checksum(fsys, files)
		require.NoError(t, err)
		data := want.compile(sum)
		file := filepath.Join("compiled", name+".bin")
		if *update {
			require.NoError(t, os.WriteFile(file, data, 0o644))
		}
		have, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, string(data) == string(have), "%s is not that of the tables: run go generate ./classify", file)

		got, ok := decompile(string(data), sum)
		require.True(t, ok, name)
		assert.True(t, assert.ObjectsAreEqual(want, got), "%s is read otherwise than the texts it was compiled of", name)

		_, ok = decompile(string(data), sum+1)
		assert.False(t, ok, "of other texts")
		data[len(data)/2] ^= 1
		_, ok = decompile(string(data), sum)
		assert.False(t, ok, "damaged")
		_, ok = decompile(string(data[:len(data)/2]), sum)
		assert.False(t, ok, "cut")
		_, ok = decompile("", sum)
		assert.False(t, ok, "none")
	}
}

// Built-in tables that are not those that were compiled are read as text: who edits one sees what it does at once.
func TestTablesThatAreNotCompiled(t *testing.T) {
	en, err := embedded.ReadFile("lexicon/en.txt")
	require.NoError(t, err)
	changed := fstest.MapFS{"en.txt": {Data: append(en, "\n[claim done]\nshipshape\n"...)}}
	lex, err := builtinLexicon(changed, english, []string{"en.txt"})
	require.NoError(t, err)
	assert.NotZero(t, lex.vocab.exact([]byte("shipshape")))
}
