package download

import (
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
)

// NewRequest returns a Request for the URL of the argument a, with the options
// that the flags select.
func (r *Retrieval) NewRequest(a arguments.Argument) (*fetch.Request, error) {
	if a.Err != nil {
		return nil, a.Err
	}
	u, err := arguments.ParseURL(r.Streams, a, r.flags.Client.Policy.ProtoDefault)
	if err != nil {
		return nil, err
	}
	if r.dav {
		u = http.DAVURL(u)
	}
	f := r.flags
	if u, err = f.Query.Apply(u); err != nil {
		return nil, err
	}
	req := &fetch.Request{URL: u}
	if a.Request != nil {
		req = a.Request()
		req.URL = u
	} else {
		req.Auth = r.Client.Logins.Credential(req)
	}
	req.NoFollow, req.Trace = f.Redirects.NoFollow && !f.Redirects.Trusted, r.notes
	req.ErrorBody = f.Request.NoFail || f.Request.FailWithBody
	if f.Request.Head {
		req.Op = fetch.Stat
	}
	if req.Header, err = f.Client.HTTP.Fields(); err != nil {
		return nil, err
	}
	setTimeCondition(req, f.Request.TimeCond)
	if err := f.HTTP.Apply(req); err != nil {
		return nil, err
	}
	if f.Body.Include && f.Body.ContinueAt == "-" {
		return nil, fetch.Usage.Errorf("-i and -C - exclude each other, because the header is not part of the file")
	}
	if f.Body.ContinueAt != "" && (f.Request.ByteRange != "" || req.Header.Get("Range") != "") {
		return nil, fetch.Usage.Errorf("-C cannot be combined with -r or a Range field")
	}
	if f.Request.ByteRange != "" {
		err = setRange(req, f.Request.ByteRange, r.Client.Scheme(u.Scheme()).Traits.Web)
	}
	return req, err
}

// setRange sets the byte range of -r in req. Only http and https support
// several ranges. The server then sends a multipart body.
func setRange(req *fetch.Request, text string, web bool) (err error) {
	if web && strings.Contains(text, ",") {
		for part := range strings.SplitSeq(text, ",") {
			if _, err := parseRange(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		req.Header = append(req.Header, fetch.Field{Name: "Range", Value: "bytes=" + text})
		return nil
	}
	req.Range, err = parseRange(text)
	return err
}

// parseRange parses a byte range in curl's syntax. For example, 0-99 selects
// the first 100 bytes, 100- skips the first 100 bytes, and -10 selects the last
// ten bytes.
func parseRange(text string) (fetch.Range, error) {
	malformed := fetch.Usage.Errorf("range %q is not FIRST-LAST, FIRST- or -COUNT", text)
	first, last, _ := strings.Cut(text, "-") // as in curl, 4 means 4-
	from, err := parseNumber(first)
	to, err2 := parseNumber(last)
	switch {
	case err != nil || err2 != nil || first == "" && last == "":
		return fetch.Range{}, malformed
	case first == "" && to == 0:
		return fetch.Range{}, malformed
	case first == "":
		return fetch.Range{First: -to}, nil
	case last == "":
		return fetch.Range{First: from}, nil
	case to < from:
		return fetch.Range{}, malformed
	}
	return fetch.Range{First: from, End: to + 1}, nil
}

// parseNumber parses a decimal number. It returns zero for an empty text.
func parseNumber(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 62)
	return int64(n), err
}
