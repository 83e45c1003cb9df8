package ftp

import (
	"context"
	"slices"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
)

// file retrieves a file, or only tells what is known of it.
func (d *driver) file(ctx context.Context, s *session, req *fetch.Request, p path, resp *fetch.Response) (*transfer, error) {
	err := s.chdir(p.dirs)
	if err == nil && d.surely(req) && d.ready(s) {
		return d.whole(ctx, s, req, p, resp)
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
	f.tell(resp)
	switch {
	case req.Op == fetch.Stat:
		return d.stat(ctx, s, req, p, f, resp)
	case unchanged(req, f):
		resp.Unchanged = true
		return nil, nil
	case d.env.MaxBody > 0 && f.size > d.env.MaxBody && req.Range.IsZero():
		return nil, nil // the Client refuses the size
	}
	first, end, err := wanted(req, f)
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	if f.size >= 0 && first == f.size && first > 0 {
		return nil, nil // all of it is there already
	}
	rest := first
	if p.kind != "I" {
		rest = 0 // an offset in a text means nothing to the server
	}
	t, err := d.transfer(ctx, s, order{command: []string{"RETR", p.name}, first: rest, atOnce: f.some})
	if err != nil {
		return d.orDirectory(ctx, s, req, p, f, resp, err)
	}
	resp.Code = t.reply.Code
	d.readText(t, p)
	t.skip += first - rest
	if end >= 0 && (end != f.size || !open(req.Range)) {
		t.left = end - first
	}
	return t, nil
}

// whole retrieves a file that is wanted whatever is known of it, so that nobody
// need wait for that.
func (d *driver) whole(ctx context.Context, s *session, req *fetch.Request, p path, resp *fetch.Response) (*transfer, error) {
	f := facts{size: -1}
	questions := append(s.typeCommands(p.kind), d.questions(s, p)...)
	t, err := d.transfer(ctx, s, order{command: []string{"RETR", p.name}, atOnce: true, questions: questions, facts: &f})
	if err != nil {
		return d.orDirectory(ctx, s, req, p, f, resp, err)
	}
	if d.unsized(p) {
		f.size = -1
	}
	f.tell(resp)
	resp.Code = t.reply.Code
	d.readText(t, p)
	t.whole = true
	return t, nil
}

// orDirectory lists what was asked for as a file and refused, where it turns
// out to be a directory.
func (d *driver) orDirectory(ctx context.Context, s *session, req *fetch.Request, p path, f facts, resp *fetch.Response, no error) (*transfer, error) {
	if (f.dir || f.no.Code == 550) && fetch.FaultOf(no) == fetch.NotFound {
		if r, err := s.enter(p); err == nil && r.Code/100 == 2 {
			return d.directory(ctx, s, req, resp)
		}
	}
	return nil, no
}

// surely reports whether a file is wanted whatever is known of it.
func (d *driver) surely(req *fetch.Request) bool {
	return req.Op == fetch.Get && req.Range.IsZero() && req.IfNot == "" && req.Since.IsZero() && req.Before.IsZero() &&
		d.env.MaxBody == 0
}

// ready reports whether s can be asked for something in one piece.
func (d *driver) ready(s *session) bool {
	return s.eager && s.opened > 0 && d.Active == "" && !d.PRET
}

// open reports whether r is all from some byte on, which must agree with the
// size. A part of which both ends were asked for is what lies between them.
func open(r fetch.Range) bool { return r.First >= 0 && r.End == 0 }

// find asks about a file, once the way to its directory has ended with err.
// Where a CWD was refused, the whole path from the directory of the login may
// still name the file: a directory that nobody may enter holds files that all
// may read.
func (d *driver) find(s *session, p path, err error) (path, facts, error) {
	if err == nil {
		f, err := d.facts(s, p)
		return p, f, err
	}
	if codeOf(err) != 550 || s.goHome() != nil {
		return p, facts{}, err
	}
	whole := p.joined()
	f, e := d.facts(s, whole)
	if e != nil || !f.some {
		return p, facts{}, err
	}
	s.Trace().Notef("a directory was refused, but not the file in it")
	return whole, f, nil
}

// enter goes to what may be a directory.
func (s *session) enter(p path) (line.Reply, error) {
	r, err := s.ask("CWD", p.name)
	if err == nil && r.Code/100 == 2 {
		s.dirs = append(slices.Clip(s.dirs), p.name)
	}
	return r, err
}

// directory lists the directory that was entered in place of a file. The URL
// of the answer is that of a directory, for what is relative to it.
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
	s.Trace().Notef("a directory: its URL ends in a slash")
	return d.list(ctx, s, req, path{dirs: s.dirs, list: true, kind: "A"}, resp)
}

// unchanged reports whether a condition of req keeps the object back.
func unchanged(req *fetch.Request, f facts) bool {
	switch {
	case req.IfNot != "" && req.IfNot == f.validator():
		return true
	case f.time.IsZero():
		return false
	case !req.Since.IsZero() && !f.time.After(req.Since):
		return true
	}
	return !req.Before.IsZero() && f.time.After(req.Before)
}

// wanted returns the range of req in the file; end is -1 where nobody knows
// it. What is not the same object any more comes from its beginning.
func wanted(req *fetch.Request, f facts) (first, end int64, err error) {
	r := req.Range
	if req.IfSame != "" && req.IfSame != f.validator() {
		r = fetch.Range{}
	}
	switch {
	case f.size >= 0:
		first, end, ok := r.Bounds(f.size)
		if !ok && first != f.size {
			return 0, 0, fetch.Denied.Errorf("range begins at byte %d of %d", first, f.size)
		}
		return first, end, nil
	case r.First < 0:
		return 0, 0, fetch.Unsupported.Errorf("range from the end of a file whose size the server does not tell")
	case r.End > 0:
		return r.First, max(r.End, r.First), nil
	}
	return r.First, -1, nil
}

// stat tells what the control connection told. What has a time but no size may
// be a directory.
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
	return nil, fetch.Unsupported.Errorf("server tells nothing of a file but the file")
}

// header says of a file what curl says: nothing in FTP itself has a form for
// it.
func header(f facts) (h fetch.Header) {
	if !f.time.IsZero() {
		h = append(h, fetch.Field{Name: "Last-Modified", Value: f.time.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")})
	}
	if f.size >= 0 {
		h = append(h, fetch.Field{Name: "Content-Length", Value: strconv.FormatInt(f.size, 10)})
	}
	return append(h, fetch.Field{Name: "Accept-Ranges", Value: "bytes"})
}
