package wais

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/internal/z3950"
)

// faults are the diagnostics of Z39.50-1988 that ask for more than giving up.
var faults = map[string]fetch.Fault{
	"S2": fetch.TryLater, // temporary
	"SB": fetch.NotFound, // no such record
	"SF": fetch.NotFound, // record out of range, or a bad id
	"SG": fetch.TryLater, // system error in presenting
	"SY": fetch.TryLater, // resources
	"SZ": fetch.TryLater,
	"T1": fetch.TryLater,
}

// diagnosis makes a diagnostic an error. S1 is whatever is wrong for good;
// freeWAIS says in words when it is the database.
func diagnosis(d z3950.Diagnostic) error {
	text := latin1(d.Message)
	f, ok := faults[d.Code]
	switch {
	case ok:
	case d.Code == "S1" && strings.Contains(text, "database is not available"):
		f = fetch.NotFound
	default:
		f = fetch.Denied
	}
	return f.Errorf("server says: %s (%s)", tty.Escape(text), tty.Escape(d.Code))
}
