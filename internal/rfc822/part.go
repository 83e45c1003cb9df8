package rfc822

import (
	"bytes"
	"io"
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Part is a part of a message that is not divided into parts itself.
type Part struct {
	Number string       // as IMAP counts (RFC 3501 6.4.5): "1", "2.1"
	Header fetch.Header // of the part; that of the message where it has one part
	Media  string       // with parameters; the default type if the part names none

	text        io.Reader // still encoded
	alternative int       // number of the outermost multipart/alternative around; 0: none
}

// id returns the Content-ID without its brackets, or "".
func (p *Part) id() string { return strings.Trim(p.Header.Get("Content-ID"), " <>") }

// FindNumber returns the part with that number. A number that the message does
// not have is an error of Fault NotFound.
func FindNumber(message io.Reader, number string) (*Part, error) {
	last := ""
	for r := newReader(message); ; {
		p, err := r.next()
		switch {
		case err == io.EOF:
			return nil, fetch.NotFound.Errorf("message has no part %q: its last part is %s", number, last)
		case err != nil:
			return nil, err
		case p.Number == number:
			return p, nil
		}
		last = p.Number
	}
}

// FindID returns the part with that Content-ID (RFC 2392 2), a multipart in one
// piece. Of several parts the first one counts. Within a multipart/alternative,
// which orders its parts by increasing quality, the last part of less than
// maxHeld bytes counts. Parts of a message within the message are not found.
func FindID(message io.Reader, id string) (best *Part, err error) {
	r := newReader(message)
	r.undivided = id
	for {
		p, err := r.next()
		switch {
		case err == io.EOF && best == nil:
			return nil, fetch.NotFound.Errorf("message has no part with that Content-ID")
		case err == io.EOF:
			return best, nil
		case err != nil:
			return nil, err
		case best != nil && p.alternative != best.alternative:
			return best, nil
		case p.id() != id:
			continue
		case p.alternative == 0:
			return p, nil
		}
		complete, err := p.buffer()
		if err != nil || !complete {
			return p, err
		}
		best = p
	}
}

// maxHeld bounds a part that is held while a better one may follow.
const maxBuffered = 1 << 20

// hold reads p into memory. It returns false for a part too large, of which
// nothing is lost.
func (p *Part) buffer() (complete bool, err error) {
	pending, err := io.ReadAll(io.LimitReader(p.text, maxBuffered))
	if complete = len(pending) < maxBuffered; complete {
		p.text = bytes.NewReader(pending)
	} else {
		p.text = io.MultiReader(bytes.NewReader(pending), p.text)
	}
	return complete, err
}

// Body returns a reader of the part without its transfer encoding (RFC 2045 6).
// It calls note, which must not be nil, for each kind of error in the encoding
// that it tolerates.
func (p *Part) Body(note func(format string, args ...any)) (io.Reader, error) {
	in := func() *lines { return newLines(p.text) }
	switch encoding := strings.ToLower(strings.TrimSpace(p.Header.Get("Content-Transfer-Encoding"))); encoding {
	case "", "7bit", "8bit", "binary":
		return p.text, nil
	case "quoted-printable":
		return &pieceReader{next: (&quotedPrintableDecoder{in: in()}).next}, nil
	case "base64":
		return &pieceReader{next: (&base64Decoder{in: in(), warn: note}).next}, nil
	case "x-uuencode", "uuencode", "x-uue":
		f, err := Decode(p.text)
		if err != nil {
			return nil, err
		}
		return f.Body, nil
	default:
		return nil, fetch.Unsupported.Errorf("part %s has the unknown transfer encoding %q", p.Number, encoding)
	}
}

// parameters splits the value of Content-Type (RFC 2045 5.1). Many senders do
// not quote a boundary that needs quotes, or repeat a parameter, and
// mime.ParseMediaType then returns no parameter.
func parameters(value string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(value)
	if err == nil {
		return kind, params
	}
	kind, value, _ = strings.Cut(value, ";")
	params = map[string]string{}
	for text := range strings.SplitSeq(value, ";") {
		name, value, _ := strings.Cut(text, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, repeated := params[name]; !repeated {
			params[name] = strings.Trim(value, " \t\"")
		}
	}
	return strings.ToLower(strings.TrimSpace(kind)), params
}
