// Package finger implements the finger scheme, which names information about
// the users of a host (RFC 1288).
//
// Pass the result of [Schemes] to fetch.New. The object is a text. The protocol
// has neither a length nor a status, so Response.Size is -1. A response that
// consists of the message "no such user" has the Fault NotFound.
package finger

import (
	"bufio"
	"context"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// port is the default port.
const port = 79

// Schemes returns the scheme finger.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "finger",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Traits: scheme.Traits{ReportsSize: true},
		Mirror: scheme.Mirroring{Record: scheme.RecordSent},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		User:   noCredential,
	}}
}

// noCredential ignores the user name in a URL, because it is the query.
func noCredential(uri.URI) (*fetch.Credential, error) { return nil, nil }

// plan returns the request line that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	q, err := queryOf(req.URL)
	if err != nil || req.Op == fetch.Stat {
		return nil, err
	}
	return []scheme.Step{{Verb: "send", Arg: q}}, nil
}

// queryOf returns the request line for a finger URL, without CR LF. The last
// segment "w" selects the long form of the response, which is the word "/W" of
// the request.
func queryOf(u uri.URI) (string, error) {
	if _, ok := u.Query(); ok {
		return "", fetch.BadURL.Errorf(`finger URL must not have a query: write "?" as %%3F`)
	}
	if u.Host() == "" {
		return "", fetch.BadURL.Errorf("finger URL must have a host, such as finger://HOST/USER")
	}
	path := strings.TrimPrefix(u.Path(), "/")
	user, hasUser := u.Userinfo()
	if hasUser {
		if path != "" || strings.Contains(user, ":") {
			return "", fetch.BadURL.Errorf("finger URL must be finger://HOST/USER or finger://USER@HOST")
		}
		path = user
	}
	path, long := cutLong(path)
	name, err := uri.Unescape(path)
	switch {
	case err != nil:
		return "", fetch.BadURL.With(err)
	case textform.HasControl(name):
		return "", fetch.BadURL.Errorf("control character in a user name")
	case long:
		name = strings.TrimSuffix("/W "+name, " ")
	}
	return name, nil
}

// cutLong removes the segment "w", which requests the long form, from the start
// or the end of path.
func cutLong(path string) (name string, long bool) {
	first, rest, _ := strings.Cut(path, "/")
	if strings.EqualFold(first, "w") {
		return rest, true
	}
	if name, ok := strings.CutSuffix(path, "/w"); ok {
		return name, true
	}
	return strings.CutSuffix(path, "/W")
}

// A driver executes requests for finger URLs.
type driver struct{ env fetch.Env }

// Do sends the request line and returns the response of the server as the Body.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	q, err := queryOf(req.URL)
	if err != nil {
		return nil, err
	}
	if req.Op == fetch.Stat {
		req.Trace.Notef("no request sent: finger has no metadata")
		return &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: "text/plain", Size: -1, Body: http.NoBody}, nil
	}
	selection.IgnoreRange(req, "finger")
	line := []byte(q + "\r\n")
	s, err := sessions.OpenSingle(ctx, d.env, req, port, false, line, line)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) {
		if err := s.AwaitResponse(); err != nil {
			return nil, err
		}
		resp := s.Document("finger", "text/plain"+media.Charset(s.R))
		resp.Fault = detectError(s.R)
		return resp, nil
	})
}

// maxErrorLine is the maximum length of an error message, in bytes.
const maxErrorLine = 512

// detectError returns an error if the first line of the response is the message
// of finger for a user that does not exist. It waits for the end of the line
// only if the line starts like that message, because finger writes it in parts.
func detectError(r *bufio.Reader) error {
	const prefix = "finger: "
	for n := 1; n <= maxErrorLine; n = r.Buffered() + 1 {
		start, err := r.Peek(max(n, min(r.Buffered(), maxErrorLine)))
		first, _, ended := strings.Cut(string(start), "\n")
		switch {
		case !strings.HasPrefix(first, prefix[:min(len(first), len(prefix))]):
			return nil
		case ended || err != nil:
			if strings.HasPrefix(first, prefix) && strings.HasSuffix(strings.TrimRight(first, ".\r"), ": no such user") {
				return fetch.NotFound.Errorf("no such user")
			}
			return nil
		}
	}
	return nil
}
