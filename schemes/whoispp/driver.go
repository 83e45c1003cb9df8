package whoispp

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// A driver executes requests for whois++ URLs.
type driver struct{ env fetch.Env }

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	q, err := queryOf(req.URL)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: recordMedia, Size: -1, Proto: "Whois++", Body: http.NoBody}
	switch {
	case req.Op == fetch.Stat && q == "":
		resp.Kind, resp.Media = fetch.Index, ""
		return resp, nil
	case req.Op == fetch.Stat:
		req.Trace.Notef("no request sent: whois++ has no metadata")
		return resp, nil
	case q == "":
		return nil, errNoQuery
	}
	selection.IgnoreRange(req, "whois++")
	s, err := sessions.OpenSingle(ctx, d.env, req, port, false, nil, nil)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) {
		a := &answer{lines: line.NewReader(s.R)}
		if err := a.start(s, q); err != nil {
			return nil, err
		}
		head, err := a.head()
		if isListing(head) {
			resp.Kind = fetch.Menu
		}
		resp.Body = s.Body(io.MultiReader(bytes.NewReader(head), a))
		return resp, err
	})
}

// recordMedia is the media type of records.
const recordMedia = "text/plain"

const (
	maxLine     = 8 << 10
	maxGreeting = 1000 // lines
	headSize    = 32 << 10
)

// An answer reads the response to a query line by line. It removes the messages
// of the server, which start with "%".
type answer struct {
	lines *line.Reader
	out   []byte
	buf   []byte
	done  bool // the server has confirmed the end
	err   error
}

// start waits for the greeting and sends the query.
func (a *answer) start(s *sessions.Single, q string) error {
	for n := 0; ; n++ {
		text, _, err := a.lines.ReadLine(maxLine)
		if err != nil || n > maxGreeting {
			return sessions.ReplyFault(orTooLong(err))
		}
		if n == 0 {
			s.Trace().Reached(trace.FirstByte, s.NetConn)
		}
		code, more, ok := message(string(text))
		switch {
		case !ok:
			return fetch.Protocol.Errorf("greeting is not a message of a Whois++ server")
		case code != 220:
			return messageError(code, string(text))
		case !more:
			sent := []byte(q + "\r\n")
			if err := s.Send(sent, sent); err != nil {
				return sessions.ReplyFault(err)
			}
			s.Trace().Reached(trace.RequestSent, s.NetConn)
			return nil
		}
	}
}

func orTooLong(err error) error {
	if err == nil {
		return line.ErrTooLong
	}
	return err
}

// head reads the first headSize bytes of the answer, or all if it is shorter.
func (a *answer) head() ([]byte, error) {
	var head bytes.Buffer
	_, err := io.CopyN(&head, a, headSize)
	switch {
	case err == io.EOF && head.Len() == 0:
		return nil, fetch.NotFound.Errorf("the server has no such record")
	case err == io.EOF:
		return head.Bytes(), nil
	}
	return head.Bytes(), err
}

func (a *answer) Read(p []byte) (int, error) {
	return sessions.ReadPending(p, &a.out, &a.err, func() { a.err = a.next() })
}

// next reads one line. The message 226 or 203 confirms the end of the answer.
func (a *answer) next() error {
	text, _, err := a.lines.ReadLine(maxLine)
	switch {
	case err == io.EOF && a.done:
		return io.EOF
	case err == io.EOF:
		return sessions.BlockFault(io.ErrUnexpectedEOF)
	case err != nil:
		return sessions.BlockFault(err)
	}
	code, _, ok := message(string(text))
	switch {
	case ok && (code == 226 || code == 203):
		a.done = true
		return io.EOF
	case ok && code >= 400:
		return messageError(code, string(text))
	case !ok && !strings.HasPrefix(string(text), "%"):
		a.buf = append(append(a.buf[:0], text...), "\r\n"...)
		a.out = a.buf
	}
	return nil
}

// message parses a message of the server, such as "% 200 Command okay". A line
// with a hyphen after the code is followed by another line of the message.
func message(text string) (code int, more, ok bool) {
	rest, ok := strings.CutPrefix(text, "%")
	rest = strings.TrimLeft(rest, " ")
	if !ok || len(rest) < 3 {
		return 0, false, false
	}
	code, err := strconv.Atoi(rest[:3])
	return code, strings.HasPrefix(rest[3:], "-"), err == nil && code >= 100
}

// messageError returns the error for a negative message (RFC 1835 appendix D).
func messageError(code int, text string) error {
	fault := fetch.Denied
	switch {
	case code == 430 || code == 530:
		fault = fetch.Auth
	case code < 400:
		fault = fetch.Protocol
	case code < 500:
		fault = fetch.TryLater
	}
	return &fetch.Error{Code: code, Err: fault.Errorf("server: %s", textform.Excerpt(text))}
}
