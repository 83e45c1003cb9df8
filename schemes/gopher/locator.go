package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/baseuri"
	"github.com/anyurl/fetch/uri"
)

// A locator is a gopher URL taken apart: what is sent, and how the answer is
// to be read (RFC 1738 3.4.1).
type locator struct {
	item     byte    // the type character; it is never sent
	selector string  // bytes
	words    string  // of a search, or ""
	plus     command // of Gopher+, or none
	link     uri.URI // what an item is that stands for a URL, or zero
}

// locate reads u. Everything that would end the line early, or part it where
// the URL does not, is refused: a selector must not become a command of the
// service that listens (RFC 1738 6).
func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("no host")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	question, hasQuestion := u.Query()
	if path == "" {
		if hasQuestion {
			return l, fetch.BadURL.Errorf("search string without an item type")
		}
		return locator{item: '1'}, nil
	}
	words, asked := "", false
	if c := firstByte(path); hasQuestion {
		if words, asked, err = oldSearch(c, path, question); err != nil {
			return l, err
		}
		if !asked {
			path += "?" + question
		}
	}
	decoded, err := uri.Unescape(path)
	if err != nil {
		return l, fetch.BadURL.With(err)
	}
	if l.item = decoded[0]; l.item <= ' ' || l.item >= 0x7f {
		return l, fetch.BadURL.Errorf("item type is not a printable ASCII character")
	}
	parts := strings.SplitN(decoded[1:], "\t", 3)
	l.selector = parts[0]
	if len(parts) > 1 {
		words = parts[1]
	}
	l.words = words
	if unsafe(l.selector) || unsafe(l.words) {
		return l, fetch.BadURL.Errorf("CR, LF or NUL in a selector")
	}
	if len(parts) > 2 {
		if l.plus, err = parseCommand(parts[2]); err != nil {
			return l, err
		}
	}
	return l, l.judge()
}

// oldSearch reads "?words", which RFC 1630 has for searches where RFC 1738 has
// "%09words". It counts for indexes alone, and only in a URL without TABs: else
// the question mark is part of the selector.
func oldSearch(item byte, path, question string) (words string, ok bool, err error) {
	if typeOf(item).kind != fetch.Index || strings.Contains(path, "%09") || strings.Contains(question, "%09") {
		return "", false, nil
	}
	words, err = uri.Unescape(strings.ReplaceAll(question, "+", " "))
	return words, err == nil, fetch.BadURL.With(err)
}

// firstByte is the first byte of path, decoded; path is not empty.
func firstByte(path string) byte {
	if path[0] == '%' && len(path) >= 3 {
		if s, err := uri.Unescape(path[:3]); err == nil {
			return s[0]
		}
	}
	return path[0]
}

// unsafe reports what would end the line early.
func unsafe(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

// judge refuses the items that name no object of this protocol, and finds out
// those that stand for a URL.
func (l *locator) judge() error {
	switch l.item {
	case 'i', '3', '+':
		return fetch.BadURL.Errorf("type %c is a line of a menu, not an object", l.item)
	case '8', 'T':
		return fetch.Unsupported.Errorf("type %c is a terminal session: use its %s URL", l.item, sessionSchemes[l.item])
	}
	link, ok := linkOf(l.selector)
	if !ok {
		return nil
	}
	u, err := baseuri.ParseAbsolute(link)
	if err != nil {
		return fetch.BadURL.Errorf("selector stands for a URL: %w", err)
	}
	l.link = u
	return nil
}

// sessionSchemes are what items of terminal sessions are as URLs.
var sessionSchemes = map[byte]string{'8': "telnet", 'T': "tn3270"}

// linkOf returns the URL that a selector "URL:..." stands for. Servers answer
// it with a page of HTML that leads there, for clients that do not know.
func linkOf(selector string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(selector, "/"), "URL:")
}

// line is what is sent, without the line end and without the data of a form.
// The empty search string that RFC 1738 3.4.3 wants before a Gopher+ string is
// left out: UMN gopherd 2.0 answers nothing to it.
func (l locator) line() string {
	s := l.selector
	if l.words != "" {
		s += "\t" + l.words
	}
	if l.plus.verb != 0 {
		s += "\t" + l.plus.String()
	}
	return s
}
