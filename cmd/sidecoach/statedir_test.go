package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestStateDir(t *testing.T) {
	home := t.TempDir()
	for _, tt := range []struct {
		name, system string
		env          map[string]string
		want         string
	}{
		{"linux", "linux", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "sidecoach")},
		{"a BSD", "freebsd", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "sidecoach")},
		{"macOS", "darwin", map[string]string{"HOME": home},
			filepath.Join(home, "Library", "Application Support", "sidecoach")},
		{"Windows", "windows", map[string]string{"HOME": "/x", "LocalAppData": home}, filepath.Join(home, "sidecoach")},
		{"as the user says", "darwin", map[string]string{"HOME": "/x", "XDG_STATE_HOME": home},
			filepath.Join(home, "sidecoach")},
		{"a relative one", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": "state"},
			filepath.Join(home, ".local", "state", "sidecoach")},
		{"nothing", "linux", nil, ""},
		{"nothing on Windows", "windows", map[string]string{"HOME": home}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, stateDirOn(tt.system, func(name string) string { return tt.env[name] }))
		})
	}
}
