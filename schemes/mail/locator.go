package mail

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator is what an imap URL names (RFC 5092 2), decoded and held to the
// grammar, so that none of it can end a command or begin another.
type locator struct {
	kind          kind
	mailbox       string // in UTF-8
	validity      uint32 // UIDVALIDITY; 0: any
	search        string // the program, checked by parseProgram; of found
	uid           uint32 // of message
	index         uint32 // of message, where uid is 0: the sequence number of curl's MAILINDEX
	section       string // of message, in normal form: "", "1.2", "HEADER"
	partialOffset int64  // of message: where PARTIAL begins
	partialLength int64  // of message: how long PARTIAL is; 0: to the end
}

type kind uint8

const (
	kindServer    kind = iota // its mailboxes, a listing
	kindMailbox               // of a mailbox, a listing
	kindSearch                // by a search, a listing
	kindMessage               // or a section of it
	kindMessageID             // a message that a search finds; no URL of imap names it so
)

const (
	maxMailbox = 1000 // bytes; no server has longer names
	maxNumber  = 1<<32 - 1
)

// locate reads u. The slash before a parameter is optional, as curl has it.
func parseLocator(u uri.URI) (locator, error) {
	var l locator
	name, params, more := strings.Cut(strings.TrimPrefix(u.Path(), "/"), ";")
	var err error
	if l.mailbox, err = decodeMailbox(strings.TrimSuffix(name, "/")); err != nil {
		return l, err
	}
	if l.mailbox != "" {
		l.kind = kindMailbox
	}
	seen := map[string]bool{}
	for more {
		var param string
		param, params, more = strings.Cut(params, ";")
		name, value, err := decodeParam(param)
		if err != nil {
			return l, err
		}
		if seen[name] {
			return l, fetch.BadURL.Errorf(";%s= twice", name)
		}
		seen[name] = true
		if err := l.set(name, value); err != nil {
			return l, err
		}
	}
	return l, l.setQuery(u)
}

// decodeMailbox reads the name of a mailbox: UTF-8, percent-encoded.
func decodeMailbox(text string) (string, error) {
	name, err := uri.Unescape(text)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	switch {
	case len(name) > maxMailbox:
		return "", fetch.BadURL.Errorf("mailbox name of %d bytes, longer than %d", len(name), maxMailbox)
	case !utf8.ValidString(name):
		return "", fetch.BadURL.Errorf("mailbox name is not UTF-8")
	case strings.ContainsAny(name, "\r\n\x00"):
		return "", fetch.BadURL.Errorf("CR, LF or NUL in a mailbox name")
	}
	return name, nil
}

// decodeParam reads one parameter. Its name is in upper case.
func decodeParam(param string) (name, value string, err error) {
	name, value, ok := strings.Cut(strings.TrimSuffix(param, "/"), "=")
	if value, err = uri.Unescape(value); err != nil {
		return "", "", fetch.BadURL.With(err)
	}
	if !ok || value == "" {
		return "", "", fetch.BadURL.Errorf("parameter %q has no value", name)
	}
	return strings.ToUpper(name), value, nil
}

// set gives l one parameter. The order is that of RFC 5092: what is meant by
// one depends on those before it.
func (l *locator) set(name, value string) (err error) {
	switch {
	case l.mailbox == "":
		return fetch.BadURL.Errorf(";%s= without a mailbox", name)
	case name == "UIDVALIDITY" && l.kind == kindMailbox:
		l.validity, err = parseNumber(name, value)
	case name == "UID" && l.kind == kindMailbox:
		l.kind = kindMessage
		l.uid, err = parseNumber(name, value)
	case name == "MAILINDEX" && l.kind == kindMailbox:
		l.kind = kindMessage
		l.index, err = parseNumber(name, value)
	case name == "SECTION" && l.kind == kindMessage:
		l.section, err = parseSection(value)
	case name == "PARTIAL" && l.kind == kindMessage:
		err = l.setPartial(value)
	case name == "EXPIRE", name == "URLAUTH":
		err = fetch.Unsupported.Errorf("imap URLs with an authorization of their own (RFC 4467) are not supported")
	default:
		err = fetch.BadURL.Errorf("parameter ;%s= is unknown, or not at its place", name)
	}
	return err
}

// setPartial reads "OFFSET" or "OFFSET.LENGTH".
func (l *locator) setPartial(value string) error {
	offset, length, both := strings.Cut(value, ".")
	first, err := strconv.ParseUint(offset, 10, 32)
	if err != nil {
		return fetch.BadURL.Errorf("PARTIAL=%s is not OFFSET.LENGTH", value)
	}
	l.partialOffset = int64(first)
	if !both {
		return nil
	}
	n, err := parseNumber("PARTIAL", length)
	l.partialLength = int64(n)
	return err
}

// parseNumber reads a number that is not zero and has 32 bits.
func parseNumber(name, value string) (uint32, error) {
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n == 0 {
		return 0, fetch.BadURL.Errorf("%s=%s is not a number from 1 to %d", name, value, uint32(maxNumber))
	}
	return uint32(n), nil
}

func (l *locator) setQuery(u uri.URI) error {
	text, ok := u.Query()
	switch {
	case !ok:
		return nil
	case l.kind != kindMailbox:
		return fetch.BadURL.Errorf("a search needs a mailbox, and finds messages in it alone")
	case text == "":
		return fetch.NeedQuery.Errorf("search without words")
	}
	program, err := uri.Unescape(text)
	if err != nil {
		return fetch.BadURL.With(err)
	}
	l.kind, l.search = kindSearch, program
	_, err = parseProgram(program)
	return err
}

// number names the message in a command.
func (l *locator) number() string {
	if l.uid != 0 {
		return strconv.FormatUint(uint64(l.uid), 10)
	}
	return strconv.FormatUint(uint64(l.index), 10)
}

// verb is FETCH, by UID where the URL has one.
func (l *locator) verb() string {
	if l.uid != 0 {
		return "UID FETCH"
	}
	return "FETCH"
}
