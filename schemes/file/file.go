// Package file implements the file scheme, which reads local files (RFC 8089,
// RFC 1738 section 3.10).
//
// Pass the result of [Schemes] to fetch.New. A program that serves files to
// others must restrict them with [Options.Root].
//
// A file is a Document and a directory is a Menu. The host of a file URL must
// be absent, empty or "localhost". Other hosts are rejected and never contacted
// by FTP or as a network share. Only regular files and directories are read,
// because opening a device can have side effects and reading from a named pipe
// can block forever.
//
// A directory of up to 4096 entries is sorted by name. A larger directory is
// listed in the order of the file system, so that memory use is limited.
package file

import (
	"os"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/localfile"
)

// Options configures the file scheme. The zero value gives access to all files
// that the process can read.
type Options struct {
	// Root, if not nil, is the directory to which file:/// refers. Files
	// outside it cannot be read, not even through symbolic links. The caller
	// must close Root after the last use of the Client.
	Root *os.Root
}

// Schemes returns the scheme file.
func Schemes(o Options) []fetch.Scheme {
	s := localfile.Scheme{Name: "file", Help: help, Root: o.Root}.Scheme()
	s.Traits.Backslash, s.Mirror.Files.Host = true, "localhost"
	return []fetch.Scheme{s}
}
