package ftp

import (
	"bytes"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
)

// Old servers run the program ls for LIST and NLST, and send its error messages
// as part of the listing. The servers reply 226 even if ls fails. Without a
// check, an unreadable directory would look like an empty one:
//
//	.: Permission denied
//	/bin/ls: cannot open directory '.': Permission denied

// maxComplaint is the maximum length in bytes of a listing that is checked for
// error messages of ls.
const maxComplaint = 1 << 10

// errnos maps texts of system errors, as ls prints them, to faults.
var errnos = map[string]fetch.Fault{
	"permission denied":         fetch.Denied,
	"operation not permitted":   fetch.Denied,
	"no such file or directory": fetch.NotFound,
	"not a directory":           fetch.NotFound,
	"input/output error":        fetch.TryLater,
	"stale file handle":         fetch.TryLater,
}

// complaint returns the error for a listing that contains only error messages
// of ls. It returns nil if the listing has any other line.
func complaint(listing []byte) (err error) {
	if len(listing) > maxComplaint {
		return nil
	}
	for line := range bytes.Lines(listing) {
		text := strings.TrimSpace(string(line))
		i := strings.LastIndex(text, ": ")
		if i < 0 {
			return nil
		}
		fault, ok := errnos[strings.ToLower(text[i+2:])]
		if !ok {
			return nil
		}
		if err == nil {
			err = fault.Errorf("listing: server replied: %s", tty.Escape(text))
		}
	}
	return err
}
