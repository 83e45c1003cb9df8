package telnet

import (
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/tty"
)

// target returns the service that a URL names. It rejects options that are not
// valid, and a path, because no protocol here would send it.
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
		return t, fetch.BadURL.Errorf("a session has no path and no query (RFC 1738 3.8)")
	}
	if a := req.Auth; a != nil {
		for _, text := range []string{a.User, a.Password.Reveal()} {
			if strings.ContainsAny(text, "\r\n\x00") || strings.Contains(text, "\xff") {
				return t, fetch.BadURL.Errorf("CR, LF, NUL or byte 0xff in the user information")
			}
		}
	}
	return t, nil
}

// announce says, before anything is sent, whom the session is with, and what
// the URL advises.
func announce(t fetch.Target, req *fetch.Request) {
	req.Trace.Notef("%s session with %s, port %d", t.Scheme, tty.Escape(t.Host), t.Port)
	if !req.Range.IsZero() {
		req.Trace.Notef("%s has no ranges: the whole object comes", t.Scheme)
	}
	if req.Auth == nil {
		return
	}
	if req.Auth.User != "" {
		req.Trace.Notef("log in as %s, the URL says", tty.Escape(req.Auth.User))
	}
	if req.Auth.Password != "" {
		req.Trace.Notef("the URL has a password too; it is not sent")
	}
}

func telnetPlan(req *fetch.Request) ([]fetch.Step, error) {
	return []fetch.Step{{Verb: "CONNECT"}, {Verb: "NEGOTIATE"}, {Verb: "SESSION"}}, nil
}
