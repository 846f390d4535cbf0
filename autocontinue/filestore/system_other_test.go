//go:build !linux

package filestore_test

import "github.com/sidecoach/sidecoach/autocontinue/filestore"

var systemChildren map[string]func(*filestore.Store, []string) error
