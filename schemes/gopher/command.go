package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/askform"
)

// A command is the Gopher+ part of a request, such as "+text/plain" or "!" (RFC
// 1738 section 3.4.3). The zero command is a plain Gopher request.
type command struct {
	verb       byte          // '+' data, '!' attributes, '$' attributes of a menu's items, '?' data after a form
	arg        string        // name of a view, or names of attributes
	viewNeeded bool          // the driver must first request the attributes and select a view
	hasForm    bool          // form data follows the request line
	form       *askform.Data // form data, or nil if the user has not filled in the form yet
}

// allAttributes requests all attributes of an item. It does not list the names
// of the required attributes, because UMN gopherd ignores the list and
// pygopherd treats such a request as a plain one.
var allAttributes = command{verb: '!'}

// String returns the command as sent in a request line, without the TAB before
// it.
func (c command) String() string {
	s := string(c.verb) + c.arg
	if c.hasForm {
		s += "\t1" // form data follows the request line
	}
	return s
}

// isDefault reports whether c requests the default Gopher+ view. For this view,
// the response of a server without Gopher+ support is accepted, because it
// contains the same object.
func (c command) isDefault() bool { return c.verb == '+' && c.arg == "" }

// parseCommand parses the Gopher+ string of a URL after percent-decoding. It
// rejects strings that do not match the Gopher+ grammar.
func parseCommand(s string) (c command, err error) {
	if s == "" {
		return c, nil
	}
	c.verb, c.arg = s[0], s[1:]
	view, data, hasData := strings.Cut(c.arg, "\t")
	switch {
	case c.verb == '+' && hasData:
		c.arg, c.hasForm = view, true
		if c.form, err = askform.ParseData(data); err != nil {
			return c, err
		}
	case strings.IndexByte("+!$?", c.verb) < 0, hasData, c.verb == '?' && c.arg != "":
		return c, fetch.BadURL.Errorf("malformed Gopher+ string")
	}
	if breaksLine(c.arg) {
		return c, fetch.BadURL.Errorf("CR, LF or NUL in a Gopher+ string")
	}
	return c, nil
}
