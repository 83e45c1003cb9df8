package whois

import (
	"bufio"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// A result contains the facts that examine finds at the start of a response.
type result struct {
	server    string // the server or URL of a referral, or ""
	registrar string // the server of the registrar of a domain, or ""
	fault     error  // error if the server has no such record, or nil
	found     bool   // a line other than a comment has been seen
}

// examine reads the start of a response, up to the size of the buffer, and
// parses its lines. The bytes remain in the buffer. Most responses fit into it.
func examine(r *bufio.Reader) (res result, err error) {
	for r.Buffered() < r.Size() {
		_, err := r.Peek(r.Buffered() + 1)
		if err == io.EOF {
			break
		}
		if err != nil && fetch.FaultOf(err) == fetch.Connect {
			return res, fetch.Truncated.Errorf("connection failed: %w", err)
		}
		if err != nil {
			return res, err
		}
	}
	text, _ := r.Peek(r.Buffered())
	for line := range strings.Lines(string(text)) {
		res.parse(line)
	}
	return res, nil
}

// parse parses one line of a response.
func (r *result) parse(line string) {
	line = strings.TrimSpace(line)
	if !r.found && line != "" {
		r.found = line[0] != '%' && line[0] != '#'
		if r.fault == nil && isMissing(line) {
			r.fault = fetch.NotFound.Errorf("%s", textform.Excerpt(line))
		}
	}
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok || value == "" {
		return
	}
	switch strings.ToLower(key) {
	case "refer", "referralserver":
		if r.server == "" {
			r.server = value
		}
	case "registrar whois server", "whois server":
		if r.registrar == "" {
			r.registrar = value
		}
	}
}

// missing lists the prefixes of messages about a record that does not exist, in
// lower case.
var missing = []string{
	"no match for", "no match!", "not found", "no data found", "no entries found", "no object found", "domain not found",
	"%error:101:", "% no entries found", "the queried object does not exist", "object does not exist",
}

// isMissing reports whether the first line of a response states that the record
// does not exist.
func isMissing(line string) bool {
	line = strings.ToLower(line)
	for _, m := range missing {
		if strings.HasPrefix(line, m) {
			return true
		}
	}
	return false
}

// location returns the URL of the same record on the server to which the
// response refers, or the zero URI. It reports servers that are not queried to
// the trace.
func (r result) location(req *fetch.Request) uri.URI {
	if r.registrar != "" {
		req.Trace.Notef("the registrar has its own server: %s", textform.Excerpt(r.registrar))
	}
	if r.server == "" {
		return uri.URI{}
	}
	to := r.server
	if scheme, rest, ok := strings.Cut(to, "://"); ok {
		if !strings.EqualFold(scheme, "whois") {
			req.Trace.Notef("the referral is not followed, because its scheme is not whois: %s", textform.Excerpt(to))
			return uri.URI{}
		}
		to = rest
	}
	u, err := uri.Parse("whois://" + strings.TrimRight(to, "/") + "/")
	if err == nil {
		_, err = fetch.TargetOf(u, port)
	}
	_, user := u.Userinfo()
	if err != nil || u.Host() == "" || u.Path() != "/" || user {
		req.Trace.Notef("the referral is not followed, because its server is invalid: %s", textform.Excerpt(r.server))
		return uri.URI{}
	}
	if u, err = u.WithPath(req.URL.Path()); err != nil {
		return uri.URI{}
	}
	return u
}
