//go:build !unix

package filestore

import "os"

// syncFolder does nothing where a folder cannot be synced.
func syncFolder(*os.Root, string) error { return nil }
