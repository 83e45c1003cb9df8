package gopher

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/uri"
)

// A locator is a parsed gopher URL, which determines the request line and the
// format of the response (RFC 1738 section 3.4.1).
type locator struct {
	item     byte    // item type, which is not part of the request line
	selector string  // decoded
	words    string  // search words, or ""
	plus     command // Gopher+ command; zero for plain Gopher
	link     uri.URI // URL in a "URL:" selector, or zero
}

// locate parses a gopher URL. It rejects bytes that would end the request line
// early, so that a URL cannot send commands to another service (RFC 1738
// section 6).
func locate(u uri.URI) (l locator, err error) {
	if u.Host() == "" {
		return l, fetch.BadURL.Errorf("no host")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	question, hasQuestion := u.Query()
	if path == "" {
		if hasQuestion {
			return l, fetch.BadURL.Errorf("search string without an item type before it")
		}
		return locator{item: '1'}, nil
	}
	words, isSearch := "", false
	if c := firstByte(path); hasQuestion {
		if words, isSearch, err = searchQuery(c, path, question); err != nil {
			return l, err
		}
		if !isSearch {
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
	if breaksLine(l.selector) || breaksLine(l.words) {
		return l, fetch.BadURL.Errorf("CR, LF or NUL in a gopher selector")
	}
	if len(parts) > 2 {
		if l.plus, err = parseCommand(parts[2]); err != nil {
			return l, err
		}
	}
	return l, l.classify()
}

// searchQuery parses the search words in a URL that ends in "?words" (RFC
// 1630). RFC 1738 replaced this form by "%09words". If the item is not an index
// or if the URL contains a TAB, the question mark is part of the selector, and
// searchQuery returns false.
func searchQuery(item byte, path, question string) (words string, ok bool, err error) {
	if typeOf(item).kind != fetch.Index || strings.Contains(path, "%09") || strings.Contains(question, "%09") {
		return "", false, nil
	}
	words, err = uri.Unescape(strings.ReplaceAll(question, "+", " "))
	return words, err == nil, fetch.BadURL.With(err)
}

// firstByte returns the first byte of path after percent-decoding, which is the
// item type. The path must not be empty.
func firstByte(path string) byte {
	if path[0] == '%' && len(path) >= 3 {
		if s, err := uri.Unescape(path[:3]); err == nil {
			return s[0]
		}
	}
	return path[0]
}

// breaksLine reports whether s contains CR, LF or NUL. Servers treat these
// bytes as the end of the request line.
func breaksLine(s string) bool { return strings.ContainsAny(s, "\r\n\x00") }

// classify returns an error for item types that Gopher cannot fetch. If the
// selector contains a URL, classify stores this URL in l.link.
func (l *locator) classify() error {
	switch l.item {
	case 'i', '3', '+':
		return fetch.BadURL.Errorf("item type %c is text in a menu and cannot be fetched", l.item)
	case '8', 'T':
		return fetch.Unsupported.Errorf("item type %c is a terminal session: use a %s URL", l.item, terminalSchemes[l.item])
	}
	link, ok := linkOf(l.selector)
	if !ok {
		return nil
	}
	u, err := baseuri.ParseAbsolute(link)
	if err != nil {
		return fetch.BadURL.Errorf("invalid URL in the selector: %w", err)
	}
	l.link = u
	return nil
}

// terminalSchemes maps the item types of terminal sessions to URL schemes.
var terminalSchemes = map[byte]string{'8': "telnet", 'T': "tn3270"}

// linkOf returns the URL in a selector of the form "URL:...". For older
// clients, servers respond to such a selector with an HTML page that redirects
// to the URL.
func linkOf(selector string) (string, bool) {
	return strings.CutPrefix(strings.TrimPrefix(selector, "/"), "URL:")
}

// requestLine returns the request line of a Gopher request, without the line
// end and form data. It omits the empty search string before a Gopher+ command
// (RFC 1738 section 3.4.3). UMN gopherd 2.0 does not respond to a request with an
// empty search string.
func (l locator) requestLine() string {
	s := l.selector
	if l.words != "" {
		s += "\t" + l.words
	}
	if l.plus.verb != 0 {
		s += "\t" + l.plus.String()
	}
	return s
}
