// Package whois implements the whois scheme, which names records of a whois
// server (RFC 3912).
//
// Pass the result of [Schemes] to fetch.New. The object is a text. If the text
// refers to another server, as texts of IANA and ARIN do, the Response is a
// redirect to the same record on that server. A URL without a host starts at
// the server of IANA. The protocol has neither a length nor a status, so
// Response.Size is -1. The messages of common servers for a missing record set
// the Fault NotFound.
package whois

import (
	"context"
	"io"
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
const port = 43

// root is the server for URLs without a host. It refers to the server of each
// top-level domain and of each block of addresses.
const root = "whois.iana.org"

// Schemes returns the scheme whois.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "whois",
		Port:   port,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"whois"}},
		Traits: scheme.Traits{ReportsSize: true, HostOptional: true},
		Mirror: scheme.Mirroring{Record: scheme.RecordSent},
		Plan:   plan,
		Open:   func(env fetch.Env) fetch.Driver { return &driver{env} },
		Query:  query,
	}}
}

// plan returns the request line that the driver sends for req.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	q, err := queryOf(req.URL)
	switch {
	case err != nil:
		return nil, err
	case req.Op == fetch.Stat:
		return nil, nil
	case q == "":
		return nil, errNoQuery
	case req.URL.Host() == "":
		return []scheme.Step{{Verb: "redirect", Arg: "whois://" + root + "/" + uri.Escape(q, uri.Path)}}, nil
	}
	return []scheme.Step{{Verb: "send", Arg: q}}, nil
}

var errNoQuery = fetch.NeedQuery.Errorf("whois server requires a query, such as whois://HOST/example.org")

// queryOf returns the request line for a whois URL, without CR LF.
func queryOf(u uri.URI) (string, error) {
	if _, ok := u.Query(); ok {
		return "", fetch.BadURL.Errorf(`whois URL must not have a query: write "?" as %%3F`)
	}
	if _, ok := u.Userinfo(); ok {
		return "", fetch.BadURL.Errorf("whois URL must not have a user")
	}
	q, err := uri.Unescape(strings.TrimPrefix(u.Path(), "/"))
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	return q, checkQuery(q)
}

func checkQuery(q string) error {
	if textform.HasControl(q) {
		return fetch.BadURL.Errorf("control character in the query")
	}
	return nil
}

// query returns the URL of a search for the words of q on the server of u.
func query(u uri.URI, q fetch.Search) (uri.URI, error) {
	if _, err := queryOf(u); err != nil {
		return uri.URI{}, err
	}
	if err := checkQuery(q.Words); err != nil {
		return uri.URI{}, err
	}
	return u.WithoutFragment().WithPath("/" + uri.Escape(q.Words, uri.Path))
}

// A driver executes requests for whois URLs.
type driver struct{ env fetch.Env }

// Do sends the query and returns the response of the server as the Body.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	q, err := queryOf(req.URL)
	if err != nil {
		return nil, err
	}
	switch {
	case req.Op == fetch.Stat:
		req.Trace.Notef("no request sent: whois has no metadata")
		resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: "text/plain", Size: -1, Body: http.NoBody}
		if q == "" {
			resp.Kind, resp.Media = fetch.Index, ""
		}
		return resp, nil
	case q == "":
		return nil, errNoQuery
	case req.URL.Host() == "":
		to, err := uri.Parse("whois://" + root + "/" + uri.Escape(q, uri.Path))
		const referral = "refer: " + root + "\n" // printed if the Client does not follow it
		return &fetch.Response{URL: req.URL, Kind: fetch.Document, Media: "text/plain", Size: int64(len(referral)),
			Location: to, Body: io.NopCloser(strings.NewReader(referral))}, err
	}
	selection.IgnoreRange(req, "whois")
	line := []byte(q + "\r\n")
	s, err := sessions.OpenSingle(ctx, d.env, req, port, false, line, line)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) {
		if err := s.AwaitResponse(); err != nil {
			return nil, err
		}
		r, err := examine(s.R)
		if err != nil {
			return nil, err
		}
		resp := s.Document("whois", "text/plain"+media.Charset(s.R))
		resp.Fault, resp.Location = r.fault, r.location(req)
		return resp, nil
	})
}
