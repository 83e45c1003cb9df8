//go:build !linux

package download

import "github.com/anyurl/fetch/fetch"

// setAttribute returns an error, because only Linux is supported.
func setAttribute(file, name, value string) error {
	return fetch.Unsupported.Errorf("extended attributes are supported on Linux only")
}
