package z3950

import (
	"errors"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/internal/wire/z3950/apdu"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A condition describes a diagnostic code of the Bib-1 set.
type condition struct {
	text  string
	fault fetch.Fault // 0: fetch.Denied
}

// conditions lists the Bib-1 diagnostics that servers send in practice.
var conditions = map[int64]condition{
	1:    {"permanent system error", 0},
	2:    {"temporary system error", fetch.TryLater},
	3:    {"unsupported search", 0},
	13:   {"no record with this number", fetch.NotFound},
	14:   {"system error in presenting records", 0},
	22:   {"result set does not exist", fetch.TryLater},
	23:   {"combination of databases not supported", 0},
	25:   {"element set is not valid", 0},
	31:   {"resources exhausted", fetch.TryLater},
	100:  {"unspecified error", 0},
	101:  {"access denied", fetch.Auth},
	108:  {"malformed query", 0},
	109:  {"database unavailable", fetch.NotFound},
	113:  {"unsupported attribute type", 0},
	114:  {"unsupported use attribute", 0},
	118:  {"unsupported structure attribute", 0},
	121:  {"unsupported attribute set", 0},
	123:  {"unsupported combination of attributes", 0},
	205:  {"only zero step size supported", 0},
	227:  {"no data available in the requested record syntax", 0},
	235:  {"database does not exist", fetch.NotFound},
	236:  {"access to the database denied", fetch.Auth},
	238:  {"record not available in the requested syntax", 0},
	239:  {"record syntax not supported", 0},
	1005: {"no databases available for the query", fetch.NotFound},
	1010: {"authentication: no password", fetch.Auth},
	1011: {"authentication: wrong user or password", fetch.Auth},
	1012: {"authentication: more than one user", fetch.Auth},
	1014: {"authentication failed", fetch.Auth},
	1015: {"authentication system error", fetch.TryLater},
}

// A diagnosis is the error for a diagnostic.
type diagnosis struct {
	error
	code int64
}

func (d *diagnosis) Unwrap() error { return d.error }

// newDiagnosis returns the error for a diagnostic of the server.
func newDiagnosis(d apdu.Diagnostic) error {
	c := conditions[d.Code]
	if c.fault == 0 {
		c.fault = fetch.Denied
	}
	if c.text == "" {
		c.text = "error"
	}
	err := c.fault.Errorf("server replied: %s (%d)", c.text, d.Code)
	if d.Info != "" {
		err = c.fault.Errorf("server replied: %s (%d): %s", c.text, d.Code, tty.Escape(tty.Clip(d.Info, maxMessage)))
	}
	return sessions.NeedLogin(c.fault, &diagnosis{err, d.Code})
}

// maxMessage is the maximum length of a server's text in a message, in characters.
const maxMessage = 500

// codeOf returns the code of the diagnostic in err, or zero.
func codeOf(err error) int64 {
	var d *diagnosis
	if errors.As(err, &d) {
		return d.code
	}
	return 0
}

// closeReasons contains the reasons in Close messages, by their codes.
var closeReasons = []string{"finished", "shutdown", "system problem", "cost limit", "resources", "security violation",
	"protocol error", "lack of activity", "peer abort", "unspecified"}

// closed returns the error for a Close message of the server.
func closed(p *apdu.Close) error {
	reason := "unspecified"
	if p.Reason >= 0 && p.Reason < int64(len(closeReasons)) {
		reason = closeReasons[p.Reason]
	}
	fault := fetch.TryLater
	if p.Reason == 5 || p.Reason == 6 {
		fault = fetch.Denied
	}
	return fault.Errorf("server closed the session: %s: %s", reason, tty.Escape(tty.Clip(p.Text, maxMessage)))
}

// wireFault classifies an error of the connection or of the BER decoder.
func wireFault(err error) error { return sessions.MessageFault(err, ber.ErrMalformed) }
