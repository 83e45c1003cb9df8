package telnet

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/schemes/internal/selection"
)

// target returns the host and port that a URL names. It returns an error for
// invalid Options and for a URL with a path or query, because these protocols
// cannot send a path or a query.
func (o Options) target(req *fetch.Request, port uint16) (fetch.Target, error) {
	t, err := fetch.TargetOf(req.URL, port)
	if err == nil {
		err = o.validate()
	}
	if err != nil {
		return t, err
	}
	_, query := req.URL.Query()
	switch path := req.URL.Path(); {
	case t.Host == "":
		return t, fetch.BadURL.Errorf("no host")
	case path != "" && path != "/" || query:
		return t, fetch.BadURL.Errorf("URL of a session must not have a path or a query (RFC 1738 section 3.8)")
	}
	if a := req.Auth; a != nil {
		for _, text := range []string{a.User, a.Password.Reveal()} {
			if strings.ContainsAny(text, "\r\n\x00") || strings.Contains(text, "\xff") {
				return t, fetch.BadURL.Errorf("CR, LF, NUL or byte 0xff in the user name or password")
			}
		}
	}
	return t, nil
}

// reportTarget reports the server and the credentials in the URL to the trace
// of req. It is called before the connection is opened.
func reportTarget(t fetch.Target, req *fetch.Request) {
	req.Trace.Notef("%s session with %s, port %d", t.Scheme, tty.Escape(t.Host), t.Port)
	selection.IgnoreRange(req, t.Scheme)
	if req.Auth == nil {
		return
	}
	if req.Auth.User != "" {
		req.Trace.Notef("log in as %s (user name in the URL)", tty.Escape(req.Auth.User))
	}
	if req.Auth.Password != "" {
		req.Trace.Notef("the URL contains a password, which is not sent")
	}
}

func telnetPlan(req *fetch.Request) ([]scheme.Step, error) {
	return []scheme.Step{{Verb: "CONNECT"}, {Verb: "NEGOTIATE"}, {Verb: "SESSION"}}, nil
}
