package nfs

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/internal/wire/reservedport"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

type driver struct {
	Options
	env  fetch.Env
	idle sessions.Pool[*session]
}

// A lease gives one request the exclusive use of a session.
type lease = sessions.Lease[*session]

// Do implements fetch.Driver.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (resp *fetch.Response, err error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	t, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	// The context decides from which local ports the connections to all services
	// of the server are opened.
	request := func(ctx context.Context, local string) (*fetch.Response, error) {
		return sessions.Retriever[*session]{
			Pool: &d.idle, Env: d.env, Request: req, Target: t, Properties: []string{local},
			New: func(c *sessions.Conn) *session { return newSession(c, *d.User) },
		}.Do(ctx, func(lease *lease) (*fetch.Response, error) {
			resp, err := d.respond(ctx, req, l, lease)
			if statusOf(err) == statusStale {
				lease.Session.Break() // a new session mounts the export again
			}
			return resp, err
		})
	}
	if resp, err = request(ctx, ""); !needsReservedPort(err) {
		return resp, err
	}
	// Many servers accept only clients with a local port below 1024.
	reserved := reservedport.With(ctx, func(c *net.TCPConn) net.Conn { return c })
	if resp, again := request(reserved, "reserved"); fetch.FaultOf(again) != fetch.BadPort {
		return resp, again
	}
	return nil, fetch.FaultOf(err).Errorf("%w (the server may accept only clients with a local port below 1024, which needs privileges)", err)
}

// findTime is the maximum time in which a file is found. The calls of a path can be
// thousands, because a name can be a symbolic link to a long path.
const findTime = 5 * time.Minute

// respond finds the file of a URL and returns its response.
func (d *driver) respond(ctx context.Context, req *fetch.Request, l locator, lease *lease) (*fetch.Response, error) {
	s := lease.Session
	within, cancel := context.WithTimeoutCause(ctx, findTime, fetch.Timeout.Errorf("the server did not find the file within %v", findTime))
	defer cancel()
	stop := context.AfterFunc(within, s.Abort)
	r, path, n, err := d.find(within, s, l)
	if !stop() {
		err = context.Cause(within)
	}
	switch {
	case err != nil:
		return nil, err
	case r.handle == nil && r.dir == "":
		return listExports(req, s.exports, lease)
	case n.kind == typeDirectory:
		return list(req, l, r, path, n, lease)
	case n.kind != typeRegular:
		return nil, fetch.Denied.Errorf("the object is a %s", typeNames[n.kind])
	case n.size >= 1<<62:
		return nil, fetch.Protocol.Errorf("server reports a file of %d bytes", n.size)
	}
	return retrieve(req, l, n, lease)
}

// find returns the file of a URL, and its path from the directory r. It returns no
// file for the list of exports, for which r is the zero root.
func (d *driver) find(ctx context.Context, s *session, l locator) (r root, path []string, n node, err error) {
	r, path, err = d.findRoot(ctx, s, l)
	if err == nil && (r.handle != nil || r.dir != "") {
		n, err = s.resolve(r, path)
	}
	return r, path, n, err
}

// findRoot returns the directory to which the path of a URL is relative, and
// the rest of the path. The directory is the directory of the public file handle,
// or an export that contains the file. The result is the zero root for the list
// of exports.
//
// If MountPort is configured, the driver mounts an export. The public file handle
// is then not tried, because some servers exit when they receive it.
func (d *driver) findRoot(ctx context.Context, s *session, l locator) (r root, path []string, err error) {
	if !s.probed && d.MountPort == 0 {
		_, err := s.getattr(handle{})
		if err != nil && (!isRejected(err) || isUnauthorized(err)) {
			return r, nil, err
		}
		s.public, s.probed = err == nil, true
	}
	if s.public {
		return root{handle: handle{}}, l.path, nil
	}
	m := &mounter{driver: d, s: s}
	defer m.close()
	if s.exports == nil {
		s.exports, err = m.listExports(ctx)
		if isRejected(err) {
			s.exports, err = m.guessExport(ctx, relative(l.path))
		}
		if err != nil {
			return r, nil, err
		}
	}
	dir, rest, ok := exportOf(s.exports, relative(l.path))
	switch {
	case !ok && len(relative(l.path)) == 0:
		return r, nil, nil
	case !ok:
		return r, nil, fetch.NotFound.Errorf("the server exports no directory that contains the file: fetch ls nfs://HOST/ lists the exports")
	}
	h, err := m.mount(ctx, dir)
	return root{handle: h, dir: dir}, rest, err
}

// retrieve returns the response for a file.
func retrieve(req *fetch.Request, l locator, n node, lease *lease) (*fetch.Response, error) {
	size := int64(n.size)
	resp := &fetch.Response{Kind: fetch.Document, Media: media.ByName(l.path[len(l.path)-1]), Proto: proto, Size: size, Time: n.mtime, Validator: n.validator()}
	first, end, err := selection.Bounds(req, resp.Validator, size, "file")
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	resp.Unchanged = selection.Excludes(req, resp.Validator, n.mtime)
	if req.Op == fetch.Stat || resp.Unchanged {
		resp.Body = lease.Body(nil, nil)
		return resp, nil
	}
	lease.Session.SetReplyTimeout(0)
	resp.Body = lease.Body(lease.Session.newReader(n, first, end), sessions.TruncatedFault)
	return resp, nil
}

// list returns the response for a directory. Its URL ends in a slash, so that
// relative references resolve against the directory.
func list(req *fetch.Request, l locator, r root, path []string, n node, lease *lease) (*fetch.Response, error) {
	base, err := req.URL.WithoutFragment().WithPath(strings.TrimSuffix(req.URL.Path(), "/") + "/")
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	resp := &fetch.Response{URL: base, Kind: fetch.Menu, Media: entries.Media, Proto: proto, Size: -1, Time: n.mtime}
	if req.Op == fetch.Stat {
		resp.Body = lease.Body(nil, nil)
		return resp, nil
	}
	reader := &directoryReader{s: lease.Session, root: r, dir: n, path: path, base: base.WithoutUserinfo(), verifier: make([]byte, 8)}
	if err := reader.fill(); err != nil {
		return nil, err
	}
	resp.Body = lease.Body(entries.NewReader(reader.entry), sessions.TruncatedFault)
	return resp, nil
}

// listExports returns the response for the list of exports.
func listExports(req *fetch.Request, exports []string, lease *lease) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Proto: proto, Size: -1}
	var r io.Reader
	if req.Op == fetch.Get {
		r = entries.NewReader(exportReader(slices.Clone(exports), req.URL.WithoutUserinfo().WithoutFragment()))
	}
	resp.Body = lease.Body(r, nil)
	return resp, nil
}

// plan returns the calls for one connection, in order. A server without a
// public file handle, or with a configured MountPort, is mounted before
// "lookup".
func (o Options) plan(req *fetch.Request) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	steps := []scheme.Step{{Verb: "getattr", Arg: "public file handle", Else: "mount"}}
	if o.MountPort != 0 {
		steps = []scheme.Step{{Verb: "mount"}}
	}
	if len(l.path) > 0 {
		steps = append(steps, scheme.Step{Verb: "lookup", Arg: fmt.Sprintf("%q", strings.Join(l.path, "/"))})
	}
	if req.Op == fetch.Get {
		steps = append(steps, scheme.Step{Verb: "read", Else: "readdirplus"})
	}
	return steps, nil
}
