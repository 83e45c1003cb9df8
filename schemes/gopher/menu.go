package gopher

import (
	"io"
	"iter"
	"mime"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// maxLine is the maximum length of a menu line, in bytes.
const maxLine = 64 << 10

// menu parses a listing. The listing ends at the line "." or at the end of r.
func menu(base uri.URI, media string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	name, _, _ := mime.ParseMediaType(media)
	switch name {
	case plusMedia:
		return plusEntries(base, r)
	case phMedia:
		return phoneEntries(r)
	}
	return func(yield func(fetch.Entry, error) bool) {
		p := newMenuParser(base)
		for text, err := range textform.Lines(r, maxLine) {
			if err != nil {
				yield(fetch.Entry{}, err)
				return
			}
			if len(text) == 1 && text[0] == '.' || !yield(p.entry(text), nil) {
				return
			}
		}
	}
}

// A menuParser converts the lines of one menu to entries.
type menuParser struct {
	scheme   string // scheme of the menu's URL
	host     string
	port     string
	lastType byte // type of the previous item
	url      []byte
}

func newMenuParser(base uri.URI) *menuParser {
	p := &menuParser{scheme: base.Scheme(), host: strings.Trim(base.Host(), "[]"), lastType: '0'}
	t, _ := fetch.TargetOf(base, port)
	p.port = strconv.Itoa(int(t.Port))
	return p
}

// An item is a parsed menu line (RFC 1436, appendix). The fifth field is the
// Gopher+ field.
type item struct {
	kind                             byte
	name, selector, host, port, plus string
}

// parseItem parses a menu line. It returns false if the line has only one
// field.
func parseItem(text string) (i item, ok bool) {
	if text == "" {
		return i, false
	}
	i.kind = text[0]
	i.name, text, ok = strings.Cut(text[1:], "\t")
	i.selector, text, _ = strings.Cut(text, "\t")
	i.host, text, _ = strings.Cut(text, "\t")
	i.port, text, _ = strings.Cut(text, "\t")
	i.plus, _, _ = strings.Cut(text, "\t")
	return i, ok
}

// entry converts a menu line to an Entry. Lines that name no object, such as
// informational text, errors and malformed lines, become entries of kind Info.
func (p *menuParser) entry(text []byte) fetch.Entry {
	e := fetch.Entry{Kind: fetch.Info, Size: -1, Raw: string(text)}
	i, ok := parseItem(e.Raw)
	if !utf8.ValidString(e.Raw) {
		e.Extra = map[string]string{"charset": "iso-8859-1"}
	}
	if !ok {
		e.Name = textform.UTF8(e.Raw)
		return e
	}
	e.Name = strings.TrimRight(textform.UTF8(i.name), " ") // gophernicus pads names with spaces
	if e.Extra == nil {
		e.Extra = make(map[string]string, 2)
	}
	e.Extra["type"] = textform.UTF8(e.Raw[:1])
	if i.plus == "+" || i.plus == "?" {
		e.Extra["plus"] = i.plus
	}
	if i.kind == '+' { // the previous item on another server
		i.kind = p.lastType
	}
	p.lastType = i.kind
	if i.kind == '3' {
		e.Extra["fault"] = fetch.NotFound.String()
	}
	if link, ok := linkOf(i.selector); ok {
		setURL(&e, link, linkKind)
	} else if typeOf(i.kind).kind != fetch.Info {
		p.setTarget(&e, i)
	}
	return e
}

// setURL sets the URL and the kind of e if text is a valid URL.
func setURL(e *fetch.Entry, text string, kind func(uri.URI) fetch.Kind) {
	if u, err := baseuri.ParseAbsolute(text); err == nil {
		e.URL, e.Kind = u, kind(u)
	}
}

// linkKind returns the kind of the object that u names: fetch.Session for
// terminal sessions, such as telnet URLs, and otherwise fetch.Document.
func linkKind(u uri.URI) fetch.Kind {
	switch u.Scheme() {
	case "telnet", "tn3270", "rlogin":
		return fetch.Session
	}
	return fetch.Document
}

// setTarget builds the URL of the menu item i and stores it in e. It leaves the
// entry unchanged if the host, port or selector of the item is invalid.
func (p *menuParser) setTarget(e *fetch.Entry, i item) {
	kind := typeOf(i.kind).kind
	number, ok := portOf(i.port)
	if !ok || !isHost(i.host) || number == 0 && kind != fetch.Session ||
		i.kind <= ' ' || i.kind >= 0x7f || breaksLine(i.selector) {
		return
	}
	b := p.url[:0]
	switch {
	case kind == fetch.Session:
		b = appendTerminal(b, i, number)
	case i.kind == 'h' && strings.HasPrefix(i.selector, "GET /"): // older form of "URL:" selectors
		b = append(appendOrigin(b, "http", i.host, number, 80), i.selector[len("GET "):]...)
	default:
		e.Media = mediaOf(i.kind, i.selector, nil)
		b = appendOrigin(b, p.schemeFor(i.host, i.port), i.host, number, port)
		b = uri.AppendEscape(append(b, '/'), string(i.kind), uri.Path)
		b = uri.AppendEscape(b, i.selector, uri.Path)
		if i.plus == "?" {
			b = append(b, "%09%09?"...)
		}
	}
	p.url = b
	setURL(e, string(b), func(uri.URI) fetch.Kind { return kind })
}

// appendTerminal appends the telnet or tn3270 URL of a terminal session to b.
// The selector is the user name for the login (RFC 1436 section 3.8). Port 0 is
// the default port.
func appendTerminal(b []byte, i item, number uint16) []byte {
	b = append(b, terminalSchemes[i.kind]+"://"...)
	if i.selector != "" {
		b = append(uri.AppendEscape(b, i.selector, uri.RegNameChars), '@')
	}
	b = appendHost(b, i.host)
	if number != 0 && number != 23 {
		b = strconv.AppendUint(append(b, ':'), uint64(number), 10)
	}
	return append(b, '/')
}

func appendOrigin(b []byte, scheme, host string, number, usual uint16) []byte {
	b = appendHost(append(append(b, scheme...), "://"...), host)
	if number != usual {
		b = strconv.AppendUint(append(b, ':'), uint64(number), 10)
	}
	return b
}

func appendHost(b []byte, host string) []byte {
	if strings.IndexByte(host, ':') >= 0 {
		return append(append(append(b, '['), host...), ']')
	}
	return append(b, host...)
}

// schemeFor returns "gopher" or "gophers" for a link to the given server. Menus
// do not state whether a server supports TLS, so gophers is used only for links
// to the server of the menu.
func (p *menuParser) schemeFor(host, port string) string {
	if p.scheme == "gophers" && port == p.port && strings.EqualFold(host, p.host) {
		return p.scheme
	}
	return "gopher"
}

// isHost reports whether host is an IP address or a host name, which may
// contain UTF-8. The host field is mandatory in RFC 1436, so servers send
// placeholders in informational text and errors. isHost rejects these
// placeholders.
func isHost(host string) bool {
	switch host {
	case "", "fake", "error.host", "null.host":
		return false
	}
	if strings.IndexByte(host, ':') >= 0 {
		a, err := netip.ParseAddr(host)
		return err == nil && a.Zone() == ""
	}
	for i := range len(host) {
		c := host[i]
		if !('a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' ||
			c == '-' || c == '.' || c == '_' || c >= utf8.RuneSelf) {
			return false
		}
	}
	return len(host) <= 253 && utf8.ValidString(host)
}

// portOf parses a port number with one to five digits.
func portOf(s string) (uint16, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil && len(s) <= 5
}
