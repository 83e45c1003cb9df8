package gemini

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// spartanPort is the default port of spartan.
const spartanPort = 300

// spartan returns the scheme spartan (Spartan protocol specification, 2021).
func spartan() fetch.Scheme {
	return fetch.Scheme{
		Name:   "spartan",
		Port:   spartanPort,
		Help:   spartanHelp,
		Ports:  scheme.Ports{Class: scheme.TextPorts},
		Links:  scheme.Links{To: []string{"spartan", "gemini", "http", "https", "gopher", "gophers"}},
		Traits: scheme.Traits{ReportsSize: true, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Record: scheme.RecordReplies, Files: scheme.FileNames{Listing: "index.gmi", Pages: true}},
		Robots: scheme.Robots{File: "/robots.txt"},
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
			q, err := newSpartanRequest(req.URL)
			if err != nil {
				return nil, err
			}
			steps := []scheme.Step{{Verb: "send", Arg: q.line()}}
			if q.data != "" {
				steps = append(steps, scheme.Step{Verb: "data", Arg: q.data})
			}
			return steps, nil
		},
		Open:  func(env fetch.Env) fetch.Driver { return spartanDriver{env} },
		Menu:  menu,
		Query: query,
	}
}

// A spartanRequest is a request line and the data after it.
type spartanRequest struct{ host, path, data string }

// newSpartanRequest returns the request for a URL. The query of the URL is the
// data that is sent to the server.
func newSpartanRequest(u uri.URI) (q spartanRequest, err error) {
	t, err := fetch.TargetOf(u, spartanPort)
	switch {
	case err != nil:
		return q, err
	case t.Host == "":
		return q, fetch.BadURL.Errorf("no host")
	}
	q.host, q.path = t.Host, u.Path()
	if q.path == "" {
		q.path = "/"
	}
	if words, ok := u.Query(); ok {
		if q.data, err = uri.Unescape(words); err != nil {
			return q, fetch.BadURL.With(err)
		}
	}
	return q, nil
}

func (q spartanRequest) line() string {
	return q.host + " " + q.path + " " + strconv.Itoa(len(q.data))
}

// A spartanDriver executes requests for spartan URLs.
type spartanDriver struct{ env fetch.Env }

func (d spartanDriver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	q, err := newSpartanRequest(req.URL)
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "spartan")
	sent := []byte(q.line() + "\r\n" + q.data)
	s, err := sessions.OpenSingle(ctx, d.env, req, spartanPort, false, sent, sent)
	if err != nil {
		return nil, err
	}
	return s.Respond(func() (*fetch.Response, error) { return readSpartan(req, s) })
}

// readSpartan reads the status line of a response: a digit, a space and a text.
func readSpartan(req *fetch.Request, s *sessions.Single) (*fetch.Response, error) {
	if err := s.AwaitResponse(); err != nil {
		return nil, err
	}
	head, err := s.R.ReadSlice('\n')
	switch {
	case err == io.EOF && len(head) == 0:
		return nil, fetch.Connect.Errorf("connection closed before the response")
	case len(head) > maxHeader:
		return nil, fetch.Protocol.Errorf("not a spartan response: %s", tty.Escape(string(head[:min(len(head), 80)])))
	}
	resp, parseErr := spartanResponse(req, string(head))
	switch {
	case parseErr != nil:
		return nil, parseErr
	case err != nil: // the end of the line was lost
		return nil, sessions.ReplyFault(err)
	}
	if resp.Head = bytes.Clone(head); resp.Code == 2 && req.Op == fetch.Get {
		resp.Body = s.Body(s.R)
	}
	return resp, nil
}

// spartanResponse parses a status line, including its line end.
func spartanResponse(req *fetch.Request, head string) (*fetch.Response, error) {
	head = strings.TrimSuffix(strings.TrimSuffix(head, "\n"), "\r")
	if len(head) < 1 || head[0] < '2' || head[0] > '5' || len(head) > 1 && head[1] != ' ' ||
		!utf8.ValidString(head) || textform.HasControl(head) {
		return nil, fetch.Protocol.Errorf("not a spartan response: %s", tty.Escape(head[:min(len(head), 80)]))
	}
	text := strings.TrimSpace(head[1:])
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Size: -1, Proto: "Spartan", Code: int(head[0] - '0')}
	switch resp.Code {
	case 2:
		if resp.Media = text; text == "" {
			resp.Media = gemtext
		}
		if media.TrimParameters(resp.Media) == "text/gemini" {
			resp.Kind = fetch.Menu
		}
		return resp, nil
	case 3:
		// The target is a path on the same server.
		to, _, err := baseuri.ResolveLocation(req.URL, text)
		if err != nil || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
			return nil, fetch.Protocol.Errorf("redirect to an invalid path: %s", tty.Escape(text))
		}
		resp.Location = to
		return resp, nil
	}
	fault := fetch.TryLater
	if resp.Code == 4 {
		// The server does not distinguish missing documents from other errors of
		// the client.
		fault = fetch.NotFound
	}
	return nil, &fetch.Error{Code: resp.Code, Err: fault.Errorf("server replied: %s", tty.Escape(head))}
}
