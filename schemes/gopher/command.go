package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A command is a Gopher+ string: what is wanted of an item beside its default
// view (RFC 1738 3.4.3). The zero command is plain Gopher.
type command struct {
	verb   byte   // '+' data, '!' attributes, '$' attributes of all in a menu, '?' a form is to be filled
	arg    string // the view, or the names of attributes
	choose bool   // the view is still to be chosen
	filled bool   // a form follows the line
	form   *form  // its answers; nil: they are not known yet
}

// askAll asks for all attributes of an item. Names of those that are wanted
// would help nobody: UMN gopherd sends all nevertheless, and pygopherd takes
// them for a plain request.
var askAll = command{verb: '!'}

// String is the command as it is sent behind a TAB.
func (c command) String() string {
	s := string(c.verb) + c.arg
	if c.filled {
		s += "\t1" // data follow
	}
	return s
}

// isDefault reports whether the default view is wanted, which a server gives
// that takes the request for a plain one.
func (c command) isDefault() bool { return c.verb == '+' && c.arg == "" }

// parseCommand reads a decoded Gopher+ string. It knows the grammar of all of
// it: what is not in the grammar is refused, not passed on.
func parseCommand(s string) (c command, err error) {
	if s == "" {
		return c, nil
	}
	c.verb, c.arg = s[0], s[1:]
	view, data, hasData := strings.Cut(c.arg, "\t")
	switch {
	case c.verb == '+' && hasData:
		c.arg, c.filled = view, true
		if c.form, err = parseForm(data); err != nil {
			return c, err
		}
	case strings.IndexByte("+!$?", c.verb) < 0, hasData, c.verb == '?' && c.arg != "":
		return c, fetch.BadURL.Errorf("malformed Gopher+ string")
	}
	if unsafe(c.arg) {
		return c, fetch.BadURL.Errorf("CR, LF or NUL in a Gopher+ string")
	}
	return c, nil
}
