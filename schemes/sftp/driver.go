package sftp

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

type driver struct {
	options Options
	env     fetch.Env
	idle    sessions.Pool[*session]

	connected atomic.Bool // a connection was opened

	queueing   sync.Mutex
	handshakes map[string]*handshakeQueue // by address

	unlocking sync.Mutex
	unlocked  map[string]ssh.Signer // decrypted keys by file name
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// Do retrieves a file or directory. It uses an idle session of the same user, if
// any.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	who := newLogin(req, t)
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: &who.Credential,
		Properties: []string{strconv.FormatBool(who.mayUseKeys)},
		Dial:       func(ctx context.Context) (*session, error) { return d.connect(ctx, t, who, req) },
	}.Do(ctx, func(lease *lease) (*fetch.Response, error) { return retrieve(lease, req, l) })
}

// retrieve sends a request and returns its response. The end of the body ends
// the lease.
func retrieve(l *lease, req *fetch.Request, where locator) (*fetch.Response, error) {
	s := l.Session
	a, err := s.stat(where.path)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Document, Size: -1, Proto: "SFTP", Time: a.time()}
	switch {
	case a.isDir() && !where.list:
		if resp.Location, err = req.URL.WithoutUserinfo().WithPath(req.URL.Path() + "/"); err != nil {
			return nil, fetch.BadURL.With(err)
		}
		resp.Body = l.Body(nil, nil)
		return resp, nil
	case a.isDir():
		return list(l, req, resp, where)
	case where.list:
		return nil, fetch.NotFound.Errorf("not a directory: %s", where.path)
	case !a.isRegular():
		return nil, fetch.Denied.Errorf("not a file but a %s", a.typeName())
	}
	return file(l, req, resp, where, a)
}

// list starts to list a directory.
func list(l *lease, req *fetch.Request, resp *fetch.Response, where locator) (*fetch.Response, error) {
	resp.Kind, resp.Media, resp.Time = fetch.Menu, entries.Media, time.Time{}
	if req.Op == fetch.Stat {
		resp.Body = l.Body(nil, nil)
		return resp, nil
	}
	handle, err := l.Session.open(opendir, where.path)
	if err != nil {
		return nil, err
	}
	dir := &listing{session: l.Session, handle: handle, base: req.URL, path: where.path}
	resp.Body = l.Body(entries.NewReader(dir.next), l.Session.bodyFault)
	return resp, nil
}

// file opens the range of a file that the request selects.
func file(l *lease, req *fetch.Request, resp *fetch.Response, where locator, a attributes) (*fetch.Response, error) {
	resp.Media = media.ByName(where.path)
	if a.has(hasSize) {
		resp.Size = a.size
	}
	if a.has(hasSize) && a.has(hasTimes) {
		resp.Validator = fmt.Sprintf("%x-%x", a.size, a.mtime)
	}
	resp.Unchanged = selection.Excludes(req, resp.Validator, resp.Time)
	if req.Op == fetch.Stat || resp.Unchanged {
		resp.Body = l.Body(nil, nil)
		return resp, nil
	}
	first, end, err := bounds(req, resp)
	if err != nil {
		return nil, err
	}
	handle, err := l.Session.open(open, where.path)
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	l.Session.traceSent("READ", rangeText(first, end))
	c := newContent(l.Session, handle, first, end)
	if resp.Size == 0 {
		// The size of files that the system generates, as in /proc, is wrong.
		if c.err = c.begin(); c.err != io.EOF {
			resp.Size, resp.Validator = -1, ""
		}
	}
	resp.Body = l.Body(c, l.Session.bodyFault)
	return resp, nil
}

// rangeText returns a range of bytes for the trace.
func rangeText(first, end int64) string {
	if end < 0 {
		return fmt.Sprintf("bytes %d-", first)
	}
	return fmt.Sprintf("bytes %d-%d", first, end-1)
}

// bounds returns the range of bytes to read. If the file has changed since an
// earlier request, the range is the complete file. The result end is -1 if the
// size of the file is unknown.
func bounds(req *fetch.Request, resp *fetch.Response) (first, end int64, err error) {
	if resp.Size <= 0 {
		if !req.Range.IsZero() {
			req.Trace.Notef("the size of the file is unknown: fetching the complete file")
		}
		return 0, -1, nil
	}
	return selection.Bounds(req, resp.Validator, resp.Size, "file")
}
