package rfc822

import (
	"bytes"
	"io"
	"iter"
	"mime"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A Part is a leaf part of a message.
type Part struct {
	Number string       // part number of IMAP (RFC 3501 6.4.5): "1", "2.1"
	Header fetch.Header // header of the part, or of a message that is not a multipart
	Media  string       // media type with parameters; the default type if the header has none

	text        io.Reader // encoded content
	alternative int       // number of the outermost enclosing multipart/alternative, or 0
}

// id returns the Content-ID of the part without angle brackets, or "".
func (p *Part) id() string { return strings.Trim(p.Header.Get("Content-ID"), " <>") }

// Parts returns the leaf parts of a message in order. The Body of a part must be
// read before the next iteration. The first error ends the sequence.
func Parts(message io.Reader) iter.Seq2[*Part, error] {
	return func(yield func(*Part, error) bool) {
		for r := newReader(message); ; {
			p, err := r.next()
			if err == io.EOF || !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// FindNumber returns the part of a message with the given part number, such as
// "2.1". If the message has no such part, FindNumber returns a [fetch.NotFound]
// error.
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

// FindID returns the first part of a message with the given Content-ID (RFC
// 2392 2). The part may be a multipart. FindID does not search attached
// messages.
//
// If parts with the same Content-ID belong to a multipart/alternative, FindID
// returns the last of these parts, because it has the best quality. It returns
// an earlier part if that part has 1 MiB or more.
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

// maxBuffered is the maximum size in bytes of a part that FindID keeps in
// memory while it searches for a better alternative.
const maxBuffered = 1 << 20

// buffer reads the part into memory, so that it can be read after the parts
// that follow it. It returns false if the part has maxBuffered bytes or more.
// The part remains readable in both cases.
func (p *Part) buffer() (complete bool, err error) {
	pending, err := io.ReadAll(io.LimitReader(p.text, maxBuffered))
	if complete = len(pending) < maxBuffered; complete {
		p.text = bytes.NewReader(pending)
	} else {
		p.text = io.MultiReader(bytes.NewReader(pending), p.text)
	}
	return complete, err
}

// Body returns a reader for the decoded content of the part (RFC 2045 6). The
// reader ignores some encoding errors and reports each kind of error once by
// calling note. The function note must not be nil.
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

// parameters parses the value of a Content-Type field (RFC 2045 5.1). Unlike
// mime.ParseMediaType, it accepts repeated parameters and boundaries without
// the required quotes.
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
