package mail

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// A part is one of a message, its transfer encoding taken off.
type part struct {
	header fetch.Header
	media  string
	io.Reader
}

// findPart finds the part with that Content-ID in a message, whose head is h
// (RFC 2392 2). Of several the first counts, but in a multipart/alternative,
// which puts the best last, the last of those that are small. Messages within
// the message have parts of their own.
func findPart(h fetch.Header, body io.Reader, id string) (*part, error) {
	p, err := searchPart(h, body, id, 0)
	if p == nil && err == nil {
		err = fetch.NotFound.Errorf("message has no part with that Content-ID")
	}
	return p, err
}

func searchPart(h fetch.Header, body io.Reader, id string, depth int) (*part, error) {
	media, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if strings.Trim(h.Get("Content-ID"), " <>") == id {
		return decodePart(h, body)
	}
	if err != nil || !strings.HasPrefix(media, "multipart/") || params["boundary"] == "" {
		return nil, nil
	}
	if depth == maxDepth {
		return nil, fetch.Protocol.Errorf("parts within parts, %d times", depth)
	}
	var best *part
	for r := multipart.NewReader(body, params["boundary"]); ; {
		raw, err := r.NextRawPart()
		if err == io.EOF {
			return best, nil
		}
		if err != nil {
			return best, partFault(err)
		}
		p, err := searchPart(fieldsOf(raw.Header), raw, id, depth+1)
		if err != nil || p != nil && media != "multipart/alternative" {
			return p, err
		}
		if p == nil {
			continue
		}
		whole, err := p.hold()
		if err != nil || !whole {
			return p, err
		}
		best = p
	}
}

// maxHeld bounds a part that is kept while a better one may follow.
const maxHeld = 1 << 20

// hold reads p into memory. It is false for a part too large, of which
// nothing is lost.
func (p *part) hold() (whole bool, err error) {
	held, err := io.ReadAll(io.LimitReader(p.Reader, maxHeld))
	if whole = len(held) < maxHeld; whole {
		p.Reader = strings.NewReader(string(held))
	} else {
		p.Reader = io.MultiReader(strings.NewReader(string(held)), p.Reader)
	}
	return whole, err
}

// fieldsOf loses the order of fields, which nobody asks for.
func fieldsOf(h textproto.MIMEHeader) (fields fetch.Header) {
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding", "Content-Id", "Content-Disposition", "Content-Description", "Content-Location"} {
		if value := h.Get(name); value != "" {
			fields = append(fields, fetch.Field{Name: name, Value: value})
		}
	}
	return fields
}

// decodePart takes the transfer encoding off (RFC 2045 6).
func decodePart(h fetch.Header, body io.Reader) (*part, error) {
	p := &part{header: h, media: h.Get("Content-Type")}
	if p.media == "" {
		p.media = defaultMedia
	}
	switch encoding := strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))); encoding {
	case "base64":
		p.Reader = base64.NewDecoder(base64.StdEncoding, &quanta{r: body})
	case "quoted-printable":
		p.Reader = quotedprintable.NewReader(body)
	case "", "7bit", "8bit", "binary":
		p.Reader = body
	default:
		return nil, fetch.Unsupported.Errorf("part is encoded by %q", encoding)
	}
	p.Reader = faulting{p.Reader}
	return p, nil
}

// quanta leaves out the blanks that stand in the base64 of some, and ends
// behind the padding: whether the decoder minds what follows depends on how the
// text comes.
type quanta struct {
	r      io.Reader
	padded bool
}

func (q *quanta) Read(b []byte) (int, error) {
	for {
		n, err := q.r.Read(b)
		kept := b[:0]
		for _, c := range b[:n] {
			if c <= ' ' {
				continue
			}
			if q.padded && c != '=' {
				return len(kept), errors.New("base64 goes on behind its end")
			}
			q.padded = c == '='
			kept = append(kept, c)
		}
		if len(kept) > 0 || err != nil || n == 0 {
			return len(kept), err
		}
	}
}

// faulting classes the errors of what it reads.
type faulting struct{ r io.Reader }

func (f faulting) Read(b []byte) (int, error) {
	n, err := f.r.Read(b)
	if err != nil && err != io.EOF {
		err = partFault(err)
	}
	return n, err
}

// partFault says that a message is not made as it should be, unless the error
// is one of whatever brought it.
func partFault(err error) error {
	var fault fetch.Fault
	switch {
	case errors.As(err, &fault):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fetch.Truncated.Errorf("message ends before its last part does: %w", err)
	case fetch.FaultOf(err) != fetch.Internal:
		return err
	}
	return fetch.Protocol.Errorf("part of the message is malformed: %w", err)
}
