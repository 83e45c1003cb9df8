package ftp

import (
	"context"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// file retrieves a file. For a request without a body, it returns only the size
// and time of the file.
func (d *driver) file(ctx context.Context, s *session, req *fetch.Request, p path, resp *fetch.Response) (*transfer, error) {
	err := s.chdir(p.dirs)
	if err == nil && d.unconditional(req) && d.canPipeline(s) {
		return d.retrieveAtOnce(ctx, s, req, p, resp)
	}
	p, f, err := d.find(s, p, err)
	if err != nil {
		return nil, err
	}
	if f.dir {
		r, err := s.enter(p)
		if err != nil {
			return nil, err
		}
		if r.Code/100 != 2 {
			return nil, refused("CWD", r)
		}
		return d.directory(ctx, s, req, resp)
	}
	f.copyTo(resp)
	switch {
	case req.Op == fetch.Stat:
		return d.stat(ctx, s, req, p, f, resp)
	case selection.Excludes(req, f.validator(), f.time):
		resp.Unchanged = true
		return nil, nil
	case d.env.MaxBody > 0 && f.size > d.env.MaxBody && req.Range.IsZero():
		return nil, nil // the Client rejects the size
	}
	first, end, err := wanted(req, f)
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	if f.size >= 0 && first == f.size && first > 0 {
		return nil, nil // the requested range is empty
	}
	rest := first
	if p.kind != "I" {
		rest = 0 // REST has no meaning in a text transfer
	}
	t, err := d.transfer(ctx, s, order{command: []string{"RETR", p.name}, first: rest, atOnce: f.some})
	if err != nil {
		return d.orDirectory(ctx, s, req, p, f, resp, err)
	}
	resp.Code = t.reply.Code
	d.readText(t, p)
	t.skip += first - rest
	if end >= 0 && (end != f.size || !openEnded(req.Range)) {
		t.length = end - first
	}
	return t, nil
}

// retrieveAtOnce sends all commands for a file without waiting for replies. It
// is used for requests without conditions, which always transfer the file.
func (d *driver) retrieveAtOnce(ctx context.Context, s *session, req *fetch.Request, p path, resp *fetch.Response) (*transfer, error) {
	f := facts{size: -1}
	questions := append(s.typeCommands(p.kind), d.factCommands(s, p)...)
	t, err := d.transfer(ctx, s, order{command: []string{"RETR", p.name}, atOnce: true, questions: questions, facts: &f})
	if err != nil {
		return d.orDirectory(ctx, s, req, p, f, resp, err)
	}
	if d.unsized(p) {
		f.size = -1
	}
	f.copyTo(resp)
	resp.Code = t.reply.Code
	d.readText(t, p)
	t.whole = true
	return t, nil
}

// orDirectory lists the directory p if its retrieval as a file has failed,
// because the URL lacks the final slash. Some servers report a size even of
// directories, so a reply to RETR that names a directory counts too. If p is not
// a directory, orDirectory returns the argument no, the error of the failed
// retrieval.
func (d *driver) orDirectory(ctx context.Context, s *session, req *fetch.Request, p path, f facts, resp *fetch.Response, no error) (*transfer, error) {
	if (f.dir || f.no.Code == 550) && fetch.FaultOf(no) == fetch.NotFound || namesDirectory(no) {
		if r, err := s.enter(p); err == nil && r.Code/100 == 2 {
			return d.directory(ctx, s, req, resp)
		}
	}
	return nil, no
}

// namesDirectory reports whether the error of RETR states that the object is a
// directory.
func namesDirectory(err error) bool {
	text := strings.ToLower(err.Error())
	return sessions.CodeOf(err)/100 == 5 && !strings.Contains(text, "no such file") &&
		(strings.Contains(text, "directory") || strings.Contains(text, "eisdir") ||
			strings.Contains(text, "not a plain file") || strings.Contains(text, "not a regular file"))
}

// unconditional reports whether a request retrieves a complete file without
// conditions, such as IfNot or Since, and without a size limit.
func (d *driver) unconditional(req *fetch.Request) bool {
	return req.Op == fetch.Get && req.Range.IsZero() && req.IfNot == "" && req.Since.IsZero() && req.Before.IsZero() &&
		d.env.MaxBody == 0
}

// canPipeline reports whether the server accepts several commands at once in
// the current state of the session.
func (d *driver) canPipeline(s *session) bool {
	return s.server.pipelines && s.transfers > 0 && d.Active == "" && !d.PRET
}

// openEnded reports whether r extends from a given byte to the end of the file.
// The length of such a transfer must agree with the size of the file. The
// transfer of any other range is cut off after the length of the range.
func openEnded(r fetch.Range) bool { return r.First >= 0 && r.End == 0 }

// find requests the size and time of a file. The argument err is the error of
// the CWD commands. If the server rejected a CWD, find tries the complete path
// from the login directory. A readable file can be in a directory that cannot be
// entered.
func (d *driver) find(s *session, p path, err error) (path, facts, error) {
	if err == nil {
		f, err := d.facts(s, p)
		return p, f, err
	}
	if sessions.CodeOf(err) != 550 || s.goHome() != nil {
		return p, facts{}, err
	}
	whole := p.joined()
	f, e := d.facts(s, whole)
	if e != nil || !f.some {
		return p, facts{}, err
	}
	s.Trace().Notef("the server rejected a directory, but not the file in it")
	return whole, f, nil
}

// enter sends CWD with the last path segment, to find out whether it is a
// directory.
func (s *session) enter(p path) (line.Reply, error) {
	r, err := s.command("CWD", p.name)
	if err == nil && r.Code/100 == 2 {
		s.dir.enter(p.name)
	}
	return r, err
}

// directory lists the directory that a URL without a final slash names. It adds
// the slash to the response URL, so that relative references resolve correctly.
func (d *driver) directory(ctx context.Context, s *session, req *fetch.Request, resp *fetch.Response) (t *transfer, err error) {
	if query, ok := req.URL.Query(); ok {
		resp.URL, err = req.URL.WithQuery(query + "/")
	} else {
		resp.URL, err = req.URL.WithPath(req.URL.Path() + "/")
	}
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	resp.Size, resp.Offset, resp.Validator = -1, 0, ""
	s.Trace().Notef("the object is a directory: its URL ends in a slash")
	return d.list(ctx, s, req, path{dirs: s.dir.below, list: true, kind: "A"}, resp)
}

// wanted returns the byte range to transfer. The end is -1 if neither the
// request nor the size of the file determines it. If the file has changed since
// the last attempt, the range starts at zero.
func wanted(req *fetch.Request, f facts) (first, end int64, err error) {
	switch r := selection.Range(req, f.validator()); {
	case f.size >= 0:
		return selection.Bounds(req, f.validator(), f.size, "file")
	case r.First < 0:
		return 0, 0, fetch.Unsupported.Errorf("a range from the end needs the size of the file, which the server does not report")
	case r.End > 0:
		return r.First, max(r.End, r.First), nil
	default:
		return r.First, -1, nil
	}
}

// stat returns the size and time of a file without its data. If the server
// reports a time but no size, the name may be a directory.
func (d *driver) stat(ctx context.Context, s *session, req *fetch.Request, p path, f facts, resp *fetch.Response) (*transfer, error) {
	if f.some && f.no.Code == 0 {
		resp.Header = header(f)
		return nil, nil
	}
	r, err := s.enter(p)
	switch {
	case err != nil:
		return nil, err
	case r.Code/100 == 2:
		return d.directory(ctx, s, req, resp)
	case f.some:
		resp.Header = header(f)
		return nil, nil
	case f.no.Code != 0:
		return nil, refused("SIZE", f.no)
	}
	return nil, fetch.Unsupported.Errorf("the server does not report properties of files")
}

// header returns the size and time of a file as HTTP-like header fields, with
// the names that curl prints. FTP itself has no header.
func header(f facts) (h fetch.Header) {
	if !f.time.IsZero() {
		h = append(h, fetch.Field{Name: "Last-Modified", Value: f.time.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")})
	}
	if f.size >= 0 {
		h = append(h, fetch.Field{Name: "Content-Length", Value: strconv.FormatInt(f.size, 10)})
	}
	return append(h, fetch.Field{Name: "Accept-Ranges", Value: "bytes"})
}
