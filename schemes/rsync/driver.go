package rsync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver executes requests for rsync URLs. A session serves a directory: the
// files in it are requested by their index in its list. The first file of a
// directory whose list was not requested has a separate session, because the
// list could be long.
type driver struct {
	env    fetch.Env
	idle   sessions.Pool[*session]
	dirs   directories
	newest int // version of the protocol that the driver announces at most
}

// Limits for idle sessions. Many servers serve few clients at the same time.
const (
	maxIdle     = 4
	idleTimeout = 15 * time.Second
)

func newDriver(env fetch.Env) *driver {
	return &driver{env: env, newest: newest, idle: sessions.Pool[*session]{
		Done: env.Done, MaxIdle: maxIdle, IdleTimeout: idleTimeout, WaitTimeout: sessions.SlotTimeout,
		Permits: sessions.Permits[*session](env.Net),
	}}
}

// Do retrieves a file, a directory, or the list of modules.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	c := call{driver: d, req: req, where: l, target: t}
	switch {
	case l.module == "":
		return c.retrieve(ctx, requestModules)
	case l.list:
		d.dirs.isKnown(t, l.folder()) // from now on
		return c.retrieve(ctx, requestList)
	case req.Op == fetch.Get && req.IfNot == "" && req.Since.IsZero() && d.dirs.isKnown(t, l.folder()):
		resp, err := c.retrieve(ctx, requestIndex)
		if !errors.Is(err, errNoIndex) {
			return resp, err
		}
	}
	return c.retrieve(ctx, requestFile)
}

// A call is a request for an object of a server.
type call struct {
	*driver
	req    *fetch.Request
	where  locator
	target fetch.Target
}

// A request is the kind of the requests of a session.
type request string

const (
	requestModules request = "modules"
	requestList    request = "list"  // of a directory
	requestFile    request = "file"  // a single one
	requestIndex   request = "index" // files of a directory by their indexes in its list
)

// retrieve performs the request on a session, and requests a missing credential
// from the user.
func (c call) retrieve(ctx context.Context, kind request) (*fetch.Response, error) {
	r := sessions.Retriever[*session]{
		Pool: &c.idle, Env: c.env, Request: c.req, Target: c.target, Auth: c.req.Auth, Properties: []string{string(kind), c.where.folder()},
		Prompt: true, New: newSession,
		Open: func(_ context.Context, s *session, auth *fetch.Credential) error {
			s.SetReplyTimeout(sessions.ReplyTimeout)
			err := s.open(c.where, kind, auth, c.newest)
			s.SetReplyTimeout(0)
			if errors.Is(err, errNoIndex) {
				c.dirs.disable(c.target, c.where.folder())
			}
			return fault(err)
		},
	}
	return r.Do(ctx, func(l *sessions.Lease[*session]) (*fetch.Response, error) {
		x := exchange{call: c, session: l.Session, lease: l}
		l.Session.SetReplyTimeout(sessions.ReplyTimeout)
		resp, err := x.respond(ctx, kind)
		l.Session.SetReplyTimeout(0)
		if err == nil && resp.Body == nil {
			l.End(false)
			resp.Body = http.NoBody
		}
		return resp, fault(err)
	})
}

// An exchange is a call on a session.
type exchange struct {
	call
	*session
	lease *sessions.Lease[*session]
}

func (x exchange) respond(ctx context.Context, kind request) (*fetch.Response, error) {
	resp := &fetch.Response{URL: x.req.URL, Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: "RSYNC"}
	switch kind {
	case requestModules:
		if x.req.Op != fetch.Stat {
			resp.Body = x.lease.Body(entries.NewReader(x.modules), nil)
		}
		return resp, nil
	case requestList:
		return x.directory(ctx, resp)
	case requestIndex:
		return x.indexed(resp)
	}
	return x.file(resp)
}

// directory returns the listing of a directory.
func (x exchange) directory(ctx context.Context, resp *fetch.Response) (*fetch.Response, error) {
	all := &list{s: &x.in}
	first, err := all.next()
	if err == io.EOF || err == nil && first.mode&typeMask != folderType {
		return nil, x.missing()
	}
	if err != nil {
		return nil, err
	}
	if x.req.Op == fetch.Stat {
		return resp, nil
	}
	files := indexer{}
	next := func() (fetch.Entry, error) {
		for {
			f, err := all.next()
			if err == io.EOF {
				if err = x.endOfList(all); err == io.EOF {
					x.keep(ctx, &files)
				}
				return fetch.Entry{}, err
			}
			if err != nil {
				return fetch.Entry{}, fault(err)
			}
			if files.add(f); f.name != "." {
				return f.entry(x.req.URL), nil
			}
		}
	}
	files.add(first)
	resp.Body = x.lease.Body(entries.NewReader(next), nil)
	return resp, nil
}

// keep lets the session serve requests for the files of the directory whose list
// was read.
func (x exchange) keep(ctx context.Context, files *indexer) {
	if x.setIndex(files) {
		x.lease.Rekey(sessions.Key(ctx, x.env.Net, x.target, x.auth, string(requestIndex), x.where.folder()))
	}
}

// file retrieves the file at the path, or redirects to a directory.
func (x exchange) file(resp *fetch.Response) (*fetch.Response, error) {
	all := &list{s: &x.in}
	f, err := all.next()
	if err == io.EOF {
		return nil, x.missing()
	}
	if err != nil {
		return nil, err
	}
	if f.mode&typeMask == folderType {
		if resp.Location, err = x.req.URL.WithoutUserinfo().WithPath(strings.TrimSuffix(x.req.URL.Path(), "/") + "/"); err != nil {
			return nil, fetch.BadURL.With(err)
		}
		return resp, nil
	}
	if _, err := all.next(); err != io.EOF {
		if err == nil {
			err = fetch.Protocol.Errorf("several entries for one file")
		}
		return nil, err
	}
	if f.mode&typeMask != regularType {
		return nil, fetch.Denied.Errorf("not a file")
	}
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(x.where.path), f.size, f.time
	resp.Validator = "" // the protocol has no ranges
	version := fmt.Sprintf("%x-%x", f.size, f.time.Unix())
	if resp.Unchanged = selection.Excludes(x.req, version, f.time); resp.Unchanged || x.req.Op == fetch.Stat {
		return resp, nil // without a body
	}
	selection.IgnoreRange(x.req, "rsync")
	if err := x.sendRequest(0); err != nil {
		return nil, err
	}
	body, err := x.openFile(0, f.size)
	if err != nil {
		return nil, err
	}
	resp.Body = x.lease.Body(body, nil)
	return resp, nil
}

// indexed retrieves a file by its index in the list of its directory.
func (x exchange) indexed(resp *fetch.Response) (*fetch.Response, error) {
	f, ok := x.index.find(x.where.name())
	if !ok {
		return nil, errNoIndex // a link, or a new file
	}
	x.Trace().Notef("the file has the number %d in the list of its directory", f.number)
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(x.where.path), f.size, f.time()
	selection.IgnoreRange(x.req, "rsync")
	body, err := x.request(f)
	if err != nil {
		return nil, err
	}
	resp.Body = x.lease.Body(body, nil)
	return resp, nil
}

// modules returns the next module of the list.
func (x exchange) modules() (fetch.Entry, error) {
	line, err := readLine(x.r)
	switch {
	case err != nil:
		return fetch.Entry{}, fault(err)
	case strings.HasPrefix(line, "@RSYNCD: EXIT"):
		return fetch.Entry{}, io.EOF
	case strings.HasPrefix(line, "@ERROR"):
		return fetch.Entry{}, serverError(strings.TrimSpace(strings.TrimPrefix(line, "@ERROR:")))
	}
	name, comment, ok := strings.Cut(line, "\t")
	e := fetch.Entry{Name: strings.TrimRight(name, " "), Kind: fetch.Info, Size: -1, Raw: line}
	if !ok { // a line of the message of the day
		e.Name = line
		return e, nil
	}
	if comment != "" {
		e.Extra = map[string]string{"comment": comment}
	}
	if folder := (item{name: e.Name, mode: folderType}).entry(x.req.URL); folder.Kind == fetch.Menu {
		e.Kind, e.Media, e.URL = folder.Kind, folder.Media, folder.URL
	}
	return e, nil
}
