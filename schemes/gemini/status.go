package gemini

import (
	"bytes"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// A header is the header line of a response: a status code of two digits and
// additional information, whose meaning depends on the code.
type header struct {
	code int
	meta string
}

// maxHeader is the maximum length of a header line in bytes. The field meta has
// at most 1024 bytes, and servers send a status, a space, CR and LF with it.
const maxHeader = 1024 + 5

// parseHeader parses a header line, including its line end.
func parseHeader(text []byte) (h header, err error) {
	if len(text) > maxHeader {
		return h, fetch.Protocol.Errorf("response header longer than %d bytes", maxHeader)
	}
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
	if len(text) < 2 || text[0] < '1' || text[0] > '6' || text[1] < '0' || text[1] > '9' || len(text) > 2 && text[2] != ' ' && text[2] != '\t' {
		return h, fetch.Protocol.Errorf("not a gemini response: %s", tty.Escape(string(text[:min(len(text), 80)])))
	}
	h = header{int(text[0]-'0')*10 + int(text[1]-'0'), strings.TrimSpace(string(text[2:]))}
	if !utf8.ValidString(h.meta) || textform.HasControl(h.meta) {
		return h, fetch.Protocol.Errorf("control characters in the response header")
	}
	return h, nil
}

// isHeaderStart reports whether text can be the start of a header line whose end
// was lost.
func isHeaderStart(text []byte) bool {
	_, err := parseHeader(append(bytes.Clone(text), "00 "[min(len(text), 3):]...))
	return err == nil
}

// gemtext is the media type of a response that does not state one.
const gemtext = "text/gemini; charset=utf-8"

// response converts h to a Response without a body. An error status is returned
// as an error.
func (h header) response(req *fetch.Request) (*fetch.Response, error) {
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Size: -1, Proto: "Gemini", Code: h.code}
	switch h.code / 10 {
	case 1:
		if req.Op == fetch.Stat {
			resp.Kind = fetch.Index
			return resp, nil
		}
		return nil, h.fail(fetch.NeedQuery.Errorf("server asks for input: %s", tty.Escape(h.meta)))
	case 2:
		if resp.Media = h.meta; resp.Media == "" {
			resp.Media = gemtext
		}
		if media.TrimParameters(resp.Media) == "text/gemini" {
			resp.Kind = fetch.Menu
		}
		return resp, nil
	case 3:
		to, repaired, err := baseuri.ResolveLocation(req.URL, h.meta)
		if err != nil || h.meta == "" {
			return nil, h.fail(fetch.Protocol.Errorf("redirect to an invalid URL: %s", tty.Escape(h.meta)))
		}
		if repaired {
			req.Trace.Detailf("repaired the URL of the redirect: %s", tty.Escape(h.meta))
		}
		resp.Location = to
		return resp, nil
	}
	return nil, h.fail(h.fault().Errorf("server replied: %s", tty.Escape(strings.TrimSpace(strconv.Itoa(h.code)+" "+h.meta))))
}

// fault returns the class of an error status.
func (h header) fault() fetch.Fault {
	switch {
	case h.code == 42: // an error of a CGI program
		return fetch.Denied
	case h.code/10 == 4:
		return fetch.TryLater
	case h.code == 51, h.code == 52:
		return fetch.NotFound
	case h.code/10 == 6: // a client certificate is required
		return fetch.Auth
	}
	return fetch.Denied
}

// maxDelay is the longest delay that a server can request with status 44.
const maxDelay = 10 * time.Minute

// fail adds the status code to an error, and the delay that the server requests
// if it receives too many requests.
func (h header) fail(err error) error {
	e := &fetch.Error{Code: h.code, Err: err}
	if seconds, parseErr := strconv.ParseUint(h.meta, 10, 31); h.code == 44 && parseErr == nil {
		e.RetryAfter = min(time.Duration(seconds)*time.Second, maxDelay)
	}
	return e
}
