package mail

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator is a parsed imap URL (RFC 5092 2). Its fields are decoded and
// contain no bytes that could inject an IMAP command.
type locator struct {
	kind          kind
	mailbox       string // name in UTF-8
	validity      uint32 // UIDVALIDITY, or 0 for any value
	search        string // search program of a kindSearch URL, validated by parseProgram
	uid           uint32 // UID of a kindMessage URL, or 0 if index is set
	index         uint32 // sequence number of a message, from the MAILINDEX parameter of curl
	section       string // message section in canonical form: "", "1.2" or "HEADER"
	partialOffset int64  // first byte that PARTIAL selects
	partialLength int64  // number of bytes that PARTIAL selects; 0 means up to the end
}

type kind uint8

const (
	kindServer    kind = iota // a listing of the mailboxes of a server
	kindMailbox               // a listing of the messages in a mailbox
	kindSearch                // a listing of the messages that a search finds
	kindMessage               // a message or one of its sections
	kindMessageID             // a message that is found by its Message-ID; only mail stores use this kind
)

const (
	maxMailbox = 1000 // maximum length of a mailbox name in bytes; the limits of servers are lower
	maxNumber  = 1<<32 - 1
)

// parseLocator parses an imap URL. Like curl, it accepts parameters without a
// slash before the semicolon.
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
			return l, fetch.BadURL.Errorf("duplicate parameter ;%s=", name)
		}
		seen[name] = true
		if err := l.set(name, value); err != nil {
			return l, err
		}
	}
	return l, l.setQuery(u)
}

// decodeMailbox decodes a percent-encoded mailbox name and checks that it is
// valid UTF-8.
func decodeMailbox(text string) (string, error) {
	name, err := uri.Unescape(text)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	switch {
	case len(name) > maxMailbox:
		return "", fetch.BadURL.Errorf("mailbox name is %d bytes long, more than the limit of %d", len(name), maxMailbox)
	case !utf8.ValidString(name):
		return "", fetch.BadURL.Errorf("mailbox name is not valid UTF-8")
	case strings.ContainsAny(name, "\r\n\x00"):
		return "", fetch.BadURL.Errorf("mailbox name contains CR, LF or NUL")
	}
	return name, nil
}

// decodeParam parses one "NAME=VALUE" parameter of a URL. It returns the name
// in upper case.
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

// set stores one URL parameter in l. Parameters must appear in the order of RFC
// 5092, so set checks the preceding parameters.
func (l *locator) set(name, value string) (err error) {
	switch {
	case l.mailbox == "":
		return fetch.BadURL.Errorf("parameter ;%s= requires a mailbox", name)
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
		err = fetch.Unsupported.Errorf("imap URLs with EXPIRE or URLAUTH (RFC 4467) are not supported")
	default:
		err = fetch.BadURL.Errorf("parameter ;%s= is unknown or misplaced", name)
	}
	return err
}

// setPartial parses the value of a PARTIAL parameter: "OFFSET" or
// "OFFSET.LENGTH".
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

// parseNumber parses a nonzero 32-bit decimal number.
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
		return fetch.BadURL.Errorf("a search needs a URL of a mailbox without a message")
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

// number returns the UID of the message in decimal, or its sequence number if
// the URL has no UID.
func (l *locator) number() string {
	if l.uid != 0 {
		return strconv.FormatUint(uint64(l.uid), 10)
	}
	return strconv.FormatUint(uint64(l.index), 10)
}

// verb returns "UID FETCH" if the URL names the message by UID, and otherwise
// "FETCH".
func (l *locator) verb() string {
	if l.uid != 0 {
		return "UID FETCH"
	}
	return "FETCH"
}
