package smb

import (
	"cmp"
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
	silenceLibrary()
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
			return s.login(t.Host, l.share, auth)
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
	opened, info, err := l.Session.open(where.path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir() && !where.list:
		resp.Kind, resp.Media = fetch.Document, ""
		if resp.Location, err = req.URL.WithoutUserinfo().WithPath(req.URL.Path() + "/"); err != nil {
			err = fetch.BadURL.With(err)
		}
	case info.IsDir() && req.Op != fetch.Stat:
		d := &folder{session: l.Session, file: opened, base: req.URL}
		resp.Body = l.Body(entries.NewReader(d.next), bodyFault)
	case info.IsDir():
	case where.list:
		err = fetch.NotFound.Errorf("not a directory")
	default:
		err = file(l, req, resp, where, opened, info)
	}
	if resp.Body != nil {
		return resp, nil
	}
	if failed := l.Session.close(opened); err != nil || failed != nil {
		return nil, cmp.Or(err, failed)
	}
	resp.Body = l.Body(nil, nil)
	return resp, nil
}

// file sets the fields of a response for a file. Its body is the range that the
// request selects, if any.
func file(l *lease, req *fetch.Request, resp *fetch.Response, where locator, opened *smb2.File, info *smb2.FileStat) error {
	if info.EndOfFile < 0 {
		return fetch.Protocol.Errorf("file with the size %d", info.EndOfFile)
	}
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(where.name()), info.EndOfFile, modified(info)
	resp.Validator = fmt.Sprintf("%x-%x", resp.Size, info.LastWriteTime.UnixNano())
	if resp.Unchanged = selection.Excludes(req, resp.Validator, resp.Time); resp.Unchanged || req.Op == fetch.Stat {
		return nil
	}
	first, end, err := selection.Bounds(req, resp.Validator, resp.Size, "file")
	if err != nil {
		return err
	}
	resp.Offset = first
	resp.Body = l.Body(newContent(l.Session, opened, first, end), bodyFault)
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
