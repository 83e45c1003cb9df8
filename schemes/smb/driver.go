package smb

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/cloudsoda/go-smb2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver executes requests for smb URLs. A session serves a share for a user.
type driver struct {
	env  fetch.Env
	idle sessions.Pool[*session]
}

// Limits for idle sessions.
const (
	maxIdle     = 4
	idleTimeout = 30 * time.Second
)

func newDriver(env fetch.Env) *driver {
	return &driver{env: env, idle: sessions.Pool[*session]{
		Done: env.Done, MaxIdle: maxIdle, IdleTimeout: idleTimeout, WaitTimeout: sessions.SlotTimeout,
		Permits: sessions.Permits[*session](env.Net),
	}}
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// Do retrieves a file, a directory, or the list of shares.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	return sessions.Retriever[*session]{
		Pool: &d.idle, Env: d.env, Request: req, Target: t, Auth: req.Auth, Properties: []string{l.share},
		Prompt: true, New: newSession,
		Open: func(_ context.Context, s *session, auth *fetch.Credential) error {
			return s.open(t.Host, l.share, auth)
		},
	}.Do(ctx, func(lease *lease) (*fetch.Response, error) { return retrieve(lease, req, l) })
}

// retrieve sends a request and returns its response. The end of the body ends
// the lease.
func retrieve(l *lease, req *fetch.Request, where locator) (*fetch.Response, error) {
	resp := &fetch.Response{URL: req.URL, Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: "SMB"}
	if where.share == "" {
		return shares(l, req, resp)
	}
	info, err := l.Session.stat(where.path)
	if err != nil {
		return nil, err
	}
	switch {
	case isLink(info):
		return nil, fetch.Denied.Errorf("a symbolic link, which is not followed")
	case info.IsDir() && !where.list:
		if resp.Location, err = req.URL.WithoutUserinfo().WithPath(req.URL.Path() + "/"); err != nil {
			return nil, fetch.BadURL.With(err)
		}
		resp.Kind, resp.Media, resp.Body = fetch.Document, "", l.Body(nil, nil)
		return resp, nil
	case info.IsDir():
		return directory(l, req, resp, where)
	case where.list:
		return nil, fetch.NotFound.Errorf("not a directory")
	}
	return file(l, req, resp, where, info)
}

// file opens the range of a file that the request selects.
func file(l *lease, req *fetch.Request, resp *fetch.Response, where locator, info *smb2.FileStat) (*fetch.Response, error) {
	if err := describe(resp, where, info); err != nil {
		return nil, err
	}
	if resp.Unchanged = selection.Excludes(req, resp.Validator, resp.Time); resp.Unchanged || req.Op == fetch.Stat {
		resp.Body = l.Body(nil, nil)
		return resp, nil
	}
	opened, err := l.Session.openFile(where.path)
	if err != nil {
		return nil, err
	}
	err = l.Session.call(calling, "QUERY_INFO", "", func() error { // the file may be another one now
		now, err := opened.Stat()
		if err == nil {
			info = now.Sys().(*smb2.FileStat)
		}
		return err
	})
	if err == nil && info.IsDir() {
		err = fetch.Denied.Errorf("not a file")
	}
	if err == nil {
		err = describe(resp, where, info)
	}
	var first, end int64
	if err == nil {
		first, end, err = selection.Bounds(req, resp.Validator, resp.Size, "file")
	}
	if err != nil {
		l.Session.Break() // the file is open
		return nil, err
	}
	resp.Offset = first
	resp.Body = l.Body(newContent(l.Session, opened, first, end), bodyFault)
	return resp, nil
}

// describe sets the fields of a response for a file.
func describe(resp *fetch.Response, where locator, info *smb2.FileStat) error {
	if info.EndOfFile < 0 {
		return fetch.Protocol.Errorf("file with the size %d", info.EndOfFile)
	}
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(where.name()), info.EndOfFile, modified(info)
	resp.Validator = fmt.Sprintf("%x-%x", resp.Size, info.LastWriteTime.UnixNano())
	return nil
}

// modified returns the modification time of a file, or zero if it is unknown.
func modified(info *smb2.FileStat) time.Time {
	if t := info.LastWriteTime.UTC(); t.Year() > 1601 && t.Year() < 2262 {
		return t
	}
	return time.Time{}
}

// bodyFault classifies an error that occurs while a body is read.
func bodyFault(err error) error {
	if err != io.EOF && fetch.FaultOf(err) == fetch.Connect {
		return fetch.Truncated.With(err)
	}
	return err
}
