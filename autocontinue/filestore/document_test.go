package filestore

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

func encode(tb testing.TB, d *Document[kept], v kept) []byte {
	value, err := json.Marshal(v)
	require.NoError(tb, err)
	data, err := json.Marshal(envelope{Format: format, Key: d.key, Name: d.label, Value: value})
	require.NoError(tb, err)
	return data
}

// FuzzDecode: a file is read as what would be written for it, or refused for a reason that is one of two.
func FuzzDecode(f *testing.F) {
	s, err := New(f.TempDir(), Options{Host: "h"})
	require.NoError(f, err)
	d, err := s.session("s")
	require.NoError(f, err)
	for _, v := range []kept{{}, {State: autocontinue.State{Seq: 7, Continues: 2, HandedOver: true}.Reset()}} {
		data := encode(f, d, v)
		f.Add(data)
		f.Add(bytes.Replace(data, []byte(`"format":1`), []byte(`"format":2`), 1))
		f.Add(data[:len(data)/2])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := d.decode(data)
		if err != nil {
			if _, ok := errors.AsType[unreadable](err); !ok && !errors.Is(err, autocontinue.ErrStateVersion) {
				t.Fatalf("neither unreadable nor newer: %v", err)
			}
			return
		}
		again := encode(t, d, v)
		w, err := d.decode(again)
		require.NoError(t, err)
		require.True(t, v.State.Equal(w.State))
		third := encode(t, d, w)
		require.Equal(t, string(again), string(third))
	})
}
