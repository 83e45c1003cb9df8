package nntp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// A locator is a parsed news or nntp URL. Its strings are percent-decoded and
// match the grammar of RFC 3977 9.8, so they can neither end a command nor
// start another command.
type locator struct {
	kind        kind
	id          string // message-id with angle brackets, for kindMessageID
	group       string // group name, for kindNumber, kindRange and kindGroup
	wildmat     string // pattern of group names, for kindGroupList
	first, last uint64 // article numbers, both inclusive
}

type kind uint8

const (
	kindMessageID kind = iota // an article by message-id
	kindNumber                // an article by number
	kindRange                 // a batch of articles
	kindGroup                 // a listing of articles
	kindGroupList             // a listing of groups
)

const (
	maxID        = 250               // RFC 3977 3.6
	maxGroupName = 460               // bytes; leaves space in the command for a verb and a range
	maxDigits    = 16                // RFC 3977 9.8
	maxNumber    = uint64(1)<<63 - 1 // last number of an open range, such as "7-"
)

// parseLocator parses a news or nntp URL. An unescaped "?" is part of the path,
// because a message-id may contain it (RFC 1738 5).
func parseLocator(u uri.URI) (locator, error) {
	text := u.Path()
	if q, ok := u.Query(); ok {
		text += "?" + q
	}
	if u.HasAuthority() {
		text = strings.TrimPrefix(text, "/")
	}
	if decoded, err := uri.Unescape(text); err != nil {
		return locator{}, fetch.BadURL.With(err)
	} else if user, _, ok := strings.Cut(decoded, "@"); ok {
		if strings.HasPrefix(u.Scheme(), "nntp") && !u.HasAuthority() && strings.Contains(user, ":") {
			return locator{}, fetch.BadURL.Errorf("credentials require two slashes: nntp://USER:PASSWORD@HOST/")
		}
		id, err := parseID(decoded)
		return locator{kind: kindMessageID, id: id}, err
	}
	name, number, hasNumber := strings.Cut(text, "/")
	name, _ = uri.Unescape(name)
	number, _ = uri.Unescape(number)
	switch {
	case hasNumber && number != "":
		return parseRange(name, number)
	case name == "":
		return locator{kind: kindGroupList, wildmat: "*"}, nil
	case strings.ContainsAny(name, "*?!,"):
		return locator{kind: kindGroupList, wildmat: name}, validateWildmat(name)
	}
	return locator{kind: kindGroup, group: name, first: 1, last: maxNumber}, validateGroup(name)
}

func parseRange(group, text string) (locator, error) {
	l := locator{kind: kindNumber, group: group}
	if err := validateGroup(group); err != nil {
		return l, err
	}
	first, last, isRange := strings.Cut(text, "-")
	var ok, lastOK bool
	l.first, ok = parseNumber(first)
	switch l.last, lastOK = parseNumber(last); {
	case !isRange:
		l.last = l.first
	case last == "":
		l.kind, l.last = kindRange, maxNumber
	default:
		l.kind, ok = kindRange, ok && lastOK
	}
	if !ok || l.first == 0 {
		return l, fetch.BadURL.Errorf("invalid article number or range: %q", text)
	}
	if l.last < l.first {
		return l, fetch.BadURL.Errorf("invalid range %s: the end is before the start", text)
	}
	return l, nil
}

// parseNumber parses an article number (RFC 3977 6).
func parseNumber(s string) (uint64, bool) {
	if s == "" || len(s) > maxDigits || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil
}

// parseID validates a message-id and adds its angle brackets, which URLs omit.
// A message-id has at most 250 printable ASCII characters.
func parseID(s string) (string, error) {
	if strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">") {
		s = s[1 : len(s)-1]
	}
	left, right, _ := strings.Cut(s, "@")
	switch {
	case left == "" || right == "":
		return "", fetch.BadURL.Errorf("invalid message-id: %q", s)
	case len(s)+len("<>") > maxID:
		return "", fetch.BadURL.Errorf("message-id of %d bytes, longer than %d", len(s)+len("<>"), maxID)
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '<' || c == '>' {
			return "", fetch.BadURL.Errorf("message-id contains the byte %#02x", c)
		}
	}
	return "<" + s + ">", nil
}

// validateGroup returns an error unless name is valid as the name of a
// newsgroup (RFC 3977 9.8).
func validateGroup(name string) error {
	switch name {
	case "":
		return fetch.BadURL.Errorf("empty group name")
	case ".", "..":
		return fetch.BadURL.Errorf("invalid group name %q", name)
	}
	return validateName(name, "!*,?[\\]")
}

// validateWildmat returns an error unless wildmat is valid (RFC 3977 4.1).
func validateWildmat(wildmat string) error {
	for pattern := range strings.SplitSeq(wildmat, ",") {
		pattern = strings.TrimPrefix(pattern, "!")
		if pattern == "" {
			return fetch.BadURL.Errorf("empty pattern in %q", wildmat)
		}
		if err := validateName(pattern, "!,[\\]"); err != nil {
			return err
		}
	}
	if len(wildmat) > maxGroupName {
		return fetch.BadURL.Errorf("wildmat of %d bytes, longer than %d", len(wildmat), maxGroupName)
	}
	return nil
}

func validateName(name, forbidden string) error {
	if len(name) > maxGroupName {
		return fetch.BadURL.Errorf("group name of %d bytes, longer than %d", len(name), maxGroupName)
	}
	for _, r := range name {
		printable := r > ' ' && r < 0x7f || r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsPrint(r)
		if !printable || strings.ContainsRune(forbidden, r) {
			return fetch.BadURL.Errorf("group name contains %q", r)
		}
	}
	return nil
}
