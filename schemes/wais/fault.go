package wais

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/z3950"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// faults maps diagnostic codes of Z39.50-1988 to classes of errors. All other
// codes are fetch.Denied.
var faults = map[string]fetch.Fault{
	"S2": fetch.TryLater, // temporary
	"SB": fetch.NotFound, // no such record
	"SF": fetch.NotFound, // record out of range, or a bad id
	"SG": fetch.TryLater, // system error while presenting records
	"SY": fetch.TryLater, // resources
	"SZ": fetch.TryLater,
	"T1": fetch.TryLater,
}

// diagnosis returns the error for a diagnostic. S1 means any permanent error.
// freeWAIS names a missing database only in the text of S1.
func diagnosis(d z3950.Diagnostic) error {
	text := textform.UTF8(d.Message)
	f, ok := faults[d.Code]
	switch {
	case ok:
	case d.Code == "S1" && strings.Contains(text, "database is not available"):
		f = fetch.NotFound
	default:
		f = fetch.Denied
	}
	return f.Errorf("server replied: %s (%s)", textform.Excerpt(text), tty.Escape(d.Code))
}
