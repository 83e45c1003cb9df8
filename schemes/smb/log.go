package smb

import (
	"io"
	"log"
	"unsafe"
)

var _ unsafe.Pointer // go:linkname requires the import

// libraryLog is the logger of the library. If the environment variable DEBUG is
// set, as for other programs, the library prints a line on standard error for each
// message that it skips. The library does not export the logger.
//
//go:linkname libraryLog github.com/cloudsoda/go-smb2.logger
var libraryLog *log.Logger

// silenceLibrary makes the library print nothing.
func silenceLibrary() { libraryLog.SetOutput(io.Discard) }
