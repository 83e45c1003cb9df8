package attach

import (
	"encoding/base64"
	"errors"
	"io"
	"iter"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/mailstore"
)

// A MIMEPart is a part of a message that has no parts itself.
type MIMEPart struct {
	Number string       // as IMAP counts (RFC 3501 6.4.5): "1", "2.1"
	Header fetch.Header // of the part; that of the message where it has one part
	Media  string       // with parameters; "text/plain" where nobody tells
	Name   string       // as the sender has it, or ""
	Body   io.Reader    // its transfer encoding undone; valid until the next part
}

const (
	maxDepth = 16
	maxParts = 10_000
)

// Part returns one part of a message. A number that it does not have is an
// error of Fault NotFound.
func Part(message io.Reader, number string) (*MIMEPart, error) {
	last := ""
	for p, err := range Parts(message) {
		if err != nil {
			return nil, err
		}
		if p.Number == number {
			return p, nil
		}
		last = p.Number
	}
	return nil, fetch.NotFound.Errorf("no part %q: the last one is %s", number, last)
}

// Parts reads the parts of a message in their order. An error ends the
// sequence.
func Parts(message io.Reader) iter.Seq2[*MIMEPart, error] {
	return func(yield func(*MIMEPart, error) bool) {
		head, body := mailstore.ReadHead(message)
		w := &walk{yield: yield}
		if err := w.entity(mailstore.ParseHead(head), body, "", 0); err != nil && err != errStop {
			yield(nil, err)
		}
	}
}

var errStop = errors.New("nobody wants more")

type walk struct {
	yield func(*MIMEPart, error) bool
	seen  int
}

// entity reads a part, or the parts in it. number is its own; "" is the
// message itself.
func (w *walk) entity(h fetch.Header, body io.Reader, number string, depth int) error {
	media := h.Get("Content-Type")
	kind, params, err := mime.ParseMediaType(media)
	if err != nil && kind == "" || media == "" {
		kind, media = "text/plain", "text/plain"
	}
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		return w.parts(body, params["boundary"], number, depth)
	}
	if w.seen++; w.seen > maxParts {
		return fetch.TooLarge.Errorf("message of more than %d parts", maxParts)
	}
	if number == "" {
		number = "1"
	}
	if body, err = decoded(h.Get("Content-Transfer-Encoding"), body); err != nil {
		body = failed{err} // which is not that of the parts behind it
	}
	if !w.yield(&MIMEPart{number, h, media, nameOf(h, params), body}, nil) {
		return errStop
	}
	return nil
}

func (w *walk) parts(body io.Reader, boundary, number string, depth int) error {
	if depth == maxDepth {
		return fetch.TooLarge.Errorf("parts within parts, more than %d deep", maxDepth)
	}
	if number != "" {
		number += "."
	}
	r := multipart.NewReader(body, boundary)
	for i := 1; ; i++ {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return multipartFault(err)
		}
		var h fetch.Header
		for name, values := range p.Header {
			for _, v := range values {
				h = append(h, fetch.Field{Name: name, Value: v})
			}
		}
		if err := w.entity(h, partReader{p}, number+strconv.Itoa(i), depth+1); err != nil {
			return err
		}
	}
}

// partReader classes the errors of a part.
type partReader struct{ r io.Reader }

func (p partReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	return n, multipartFault(err)
}

// multipartFault: a boundary that never comes cuts the message.
func multipartFault(err error) error {
	switch {
	case err == nil, err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fetch.Truncated.Errorf("multipart message has no end: %w", io.ErrUnexpectedEOF)
	case fetch.FaultOf(err) != fetch.Internal:
		return err
	}
	return fetch.Protocol.With(err)
}

// decoded undoes a transfer encoding (RFC 2045 6).
func decoded(encoding string, body io.Reader) (io.Reader, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "7bit", "8bit", "binary":
		return body, nil
	case "quoted-printable":
		return faulty{quotedprintable.NewReader(body)}, nil
	case "base64":
		return faulty{base64.NewDecoder(base64.StdEncoding, &alphabet{r: body})}, nil
	case "x-uuencode", "uuencode", "x-uue":
		f, err := Decode(body)
		if err != nil {
			return nil, err
		}
		return f.Body, nil
	}
	return nil, fetch.Unsupported.Errorf("transfer encoding %q", encoding)
}

// failed is a body that cannot be read.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// faulty classes what a decoder finds wrong.
type faulty struct{ r io.Reader }

func (f faulty) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && err != io.EOF && fetch.FaultOf(err) == fetch.Internal {
		err = fetch.Protocol.With(err)
	}
	return n, err
}

// alphabet drops what is none of the characters of base64, as RFC 2045 6.8
// wants, and what follows the end: mailing lists put their words there.
type alphabet struct {
	r     io.Reader
	kept  int // characters of the present four
	ended bool
}

func (a *alphabet) Read(p []byte) (int, error) {
	n, err := a.r.Read(p)
	kept := p[:0]
	for _, c := range p[:n] {
		switch {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '+', c == '/':
			if a.ended {
				continue
			}
		case c == '=' && (!a.ended || a.kept > 0):
			a.ended = true
		default:
			continue
		}
		kept = append(kept, c)
		a.kept = (a.kept + 1) % 4
	}
	return len(kept), err
}

// nameOf is the name that a part has (RFC 2183 2.3), or that its type gives.
func nameOf(h fetch.Header, params map[string]string) string {
	_, disposition, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	for _, name := range []string{disposition["filename"], params["name"]} {
		if name == "" {
			continue
		}
		if text, err := new(mime.WordDecoder).DecodeHeader(name); err == nil {
			name = text
		}
		return name
	}
	return ""
}
