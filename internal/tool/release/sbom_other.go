//go:build !release

package main

import (
	"errors"
	"io"
)

// writeSBOM returns an error, because this build does not contain the library
// for SBOMs. The library is listed in tools.mod, not in go.mod.
func writeSBOM(io.Writer, string) error {
	return errors.New("this program was built without tools.mod: run make release")
}
