package ldap

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/uri"
)

// media is the media type of LDIF.
const media = "text/x-ldif"

const (
	lineLength = 76
	dnName     = "dn"
	reference  = "# reference: "
	partSize   = 48 << 10 // bytes of a value that are converted at a time; a multiple of 3
)

// A value converts the value of an attribute to LDIF in parts (RFC 2849). The
// zero value has nothing to write.
type value struct {
	begin   string // the name and the colon; "" if there is nothing to write
	rest    []byte
	encoded bool // in base64
	column  int  // length of the last line so far
}

func newValue(name string, text []byte) value {
	v := value{begin: name + ": ", rest: text, encoded: !isSafe(text)}
	if v.encoded {
		v.begin = name + ":: "
	}
	return v
}

// more writes the next part of the value. It returns false if the value is
// already written completely.
func (v *value) more(w *bytes.Buffer) bool {
	if v.begin == "" {
		return false
	}
	if v.column == 0 {
		w.WriteString(v.begin)
		v.column = len(v.begin)
	}
	part := v.rest[:min(len(v.rest), partSize)]
	v.rest = v.rest[len(part):]
	if v.encoded {
		part = base64.StdEncoding.AppendEncode(nil, part)
	}
	v.fold(w, part)
	if len(v.rest) == 0 {
		w.WriteByte('\n')
		*v = value{}
	}
	return true
}

// fold writes a part of a value and breaks long lines. Continuation lines begin
// with a space.
func (v *value) fold(w *bytes.Buffer, part []byte) {
	for len(part) > 0 {
		if v.column >= lineLength {
			w.WriteString("\n ")
			v.column = 1
		}
		n := min(len(part), lineLength-v.column)
		w.Write(part[:n])
		part = part[n:]
		v.column += n
	}
}

// escapeReference returns the URL of a reference as printable ASCII.
func escapeReference(text string) string {
	var b []byte
	for _, c := range []byte(text[:min(len(text), maxText)]) {
		if c <= ' ' || c >= 0x7F {
			b = fmt.Appendf(b, "%%%02X", c)
		} else {
			b = append(b, c)
		}
	}
	return string(b)
}

// isSafe reports whether a value can be written without base64.
func isSafe(text []byte) bool {
	for i, c := range text {
		if c == 0 || c == '\n' || c == '\r' || c >= 0x7F || c < ' ' || i == 0 && strings.IndexByte(" :<", c) >= 0 {
			return false
		}
	}
	return len(text) == 0 || text[len(text)-1] != ' '
}

// maxLine is the maximum length of a line of LDIF in bytes. The lines that this
// package writes are much shorter.
const maxLine = 64 << 10

// menu parses LDIF. Each directory entry and each reference becomes a
// fetch.Entry. In a listing without DN, the directories of the server become
// entries.
func menu(u uri.URI, mediaType string, r io.Reader) iter.Seq2[fetch.Entry, error] {
	return func(yield func(fetch.Entry, error) bool) {
		if !strings.HasPrefix(mediaType, media) {
			yield(fetch.Entry{}, fetch.Unsupported.Errorf("media type %q is not LDIF", mediaType))
			return
		}
		l, err := locate(u)
		if err != nil {
			yield(fetch.Entry{}, err)
			return
		}
		p := parser{locator: l, base: u.WithoutUserinfo().WithoutQuery().WithoutFragment(), lines: line.NewReader(r)}
		for {
			text, err := p.logical()
			if err == nil || err == io.EOF {
				if e, ok := p.entry(text); ok && !yield(e, nil) {
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					yield(fetch.Entry{}, err)
				}
				return
			}
		}
	}
}

// A parser parses LDIF.
type parser struct {
	locator
	base    uri.URI
	lines   *line.Reader
	next    []byte // the line after the current one
	started bool
}

// logical returns the next line, joined with its continuation lines. It returns
// io.EOF together with the last line. Only the beginning of a long line is
// returned.
func (p *parser) logical() ([]byte, error) {
	if !p.started {
		p.started = true
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	text := p.next
	for {
		err := p.advance()
		if err != nil || len(p.next) == 0 || p.next[0] != ' ' {
			return text, err
		}
		if len(text) < 2*maxText {
			text = append(text, p.next[1:]...)
		}
	}
}

func (p *parser) advance() error {
	text, _, err := p.lines.ReadLine(maxLine)
	if err != nil {
		p.next = nil
		return err
	}
	p.next = bytes.Clone(text)
	return nil
}

// entry returns the entry that a line names. The result ok is false if the line
// names none.
func (p *parser) entry(text []byte) (e fetch.Entry, ok bool) {
	if ref, found := bytes.CutPrefix(text, []byte(reference)); found {
		return p.referenceEntry(string(ref))
	}
	name, rest, found := bytes.Cut(text, []byte(":"))
	if !found {
		return e, false
	}
	root := p.dn == "" && p.scope == base
	switch {
	case root && strings.EqualFold(string(name), "namingContexts"):
		return p.dnEntry(rest, fetch.Menu, "??one")
	case !root && string(name) == dnName:
		return p.dnEntry(rest, fetch.Document, "")
	}
	return e, false
}

// dnEntry returns the entry for a DN. The parameter rest is a line of LDIF
// after its name and the colon.
func (p *parser) dnEntry(rest []byte, kind fetch.Kind, query string) (e fetch.Entry, ok bool) {
	text, encoded := bytes.CutPrefix(rest, []byte(":"))
	text = bytes.TrimLeft(text, " ")
	if encoded {
		decoded, err := base64.StdEncoding.DecodeString(string(text))
		if err != nil {
			return e, false
		}
		text = decoded
	}
	u, err := p.base.WithPath("/" + escapeDN(string(text)))
	if query = strings.TrimPrefix(query, "?"); err == nil && query != "" {
		u, err = u.WithQuery(query)
	}
	if err != nil || len(text) == 0 || len(text) > maxText {
		return e, false
	}
	return fetch.Entry{Name: strings.ToValidUTF8(string(text), "\uFFFD"), URL: u, Kind: kind, Media: media, Size: -1}, true
}

// referenceEntry returns a listing entry for a search reference, which is the
// URL of another server.
func (p *parser) referenceEntry(text string) (e fetch.Entry, ok bool) {
	u, err := uri.Parse(text)
	if err != nil || len(text) > maxText {
		return fetch.Entry{Name: text, Kind: fetch.Info, Size: -1}, true
	}
	e = fetch.Entry{Name: u.String(), URL: u.WithoutUserinfo(), Kind: fetch.Menu, Media: media, Size: -1}
	if l, err := locate(u); err != nil || !l.isListing() {
		e.Kind = fetch.Document
	}
	return e, true
}
