package ipfs

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/uri"
)

// A driver executes requests for ipfs URLs.
type driver struct {
	env     fetch.Env
	gateway gateway
	err     error // there is no gateway, or its URL is invalid
	web     fetch.Driver
	verifier
}

// findTime is the maximum time in which an object is found. Each name of a path can
// need several blocks, which the gateway may send one by one.
const findTime = 5 * time.Minute

// Do retrieves a file, or lists a directory.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if l.sensitive {
		return canonical(req, l)
	}
	if d.err != nil {
		return nil, d.err
	}
	s := newStore(ctx, d, req, l.carTarget(req))
	limit := time.AfterFunc(findTime, func() {
		s.cancel(fetch.Timeout.Errorf("the gateway did not send the blocks of the path within %v", findTime))
	})
	resp, err := s.respond(l)
	if limit.Stop(); err != nil {
		if cause := context.Cause(s.ctx); cause != nil {
			err = cause
		}
		s.Close()
		return nil, err
	}
	if first := s.first; first != nil {
		resp.Peer, resp.TLS = first.Peer, first.TLS
	}
	if resp.Body == nil {
		s.Close()
		resp.Body = http.NoBody
	}
	return resp, nil
}

// canonical returns a redirect to the URL with an identifier of version 1 in base
// 32. Archives and other programs change the host of a URL to lower case.
func canonical(req *fetch.Request, l locator) (*fetch.Response, error) {
	to, err := uri.Parse("ipfs://" + l.root.String() + req.URL.Path())
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	return &fetch.Response{Location: to, Size: -1, Body: http.NoBody}, nil
}

// resolve returns the file or directory at the path of l.
func (s *store) resolve(l locator) (e entity, err error) {
	id := l.root
	for i := 0; ; i++ {
		block, err := s.get(id)
		if err != nil {
			return e, err
		}
		if e, err = newEntity(id, block); err != nil {
			return e, err
		}
		switch {
		case e.kind == symlinkType:
			return e, fetch.Unsupported.Errorf("a symbolic link to %.200q, which is not followed", e.data)
		case e.kind == metadataType:
			return e, fetch.Unsupported.Errorf("UnixFS nodes of the type Metadata are not supported")
		case e.isFile() && (i < len(l.path) || l.list && i > 0):
			return e, fetch.NotFound.Errorf("not a directory, but a file")
		case i == len(l.path):
			return e, nil
		}
		if id, err = lookup(s.get, e, l.path[i]); err != nil {
			return e, err
		}
	}
}

// respond returns the response for the file or directory of l. It closes s only
// when the body is closed.
func (s *store) respond(l locator) (*fetch.Response, error) {
	e, err := s.resolve(l)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{URL: s.req.URL, Size: -1, Proto: "IPFS"}
	switch {
	case !e.isDirectory():
		return s.file(l, e, resp)
	case !l.list:
		if resp.Location, err = s.req.URL.WithPath(s.req.URL.Path() + "/"); err != nil {
			return nil, fetch.BadURL.With(err)
		}
		return resp, nil
	}
	resp.Kind, resp.Media, resp.Time = fetch.Menu, entries.Media, e.time
	if s.req.Op == fetch.Stat {
		return resp, nil
	}
	all := &listing{store: s, base: s.req.URL, entries: dirReader{get: s.get}}
	if err := all.entries.push(e); err != nil {
		return nil, err
	}
	resp.Body = &body{entries.NewReader(all.next), s}
	return resp, nil
}

// file returns the response for a file.
func (s *store) file(l locator, e entity, resp *fetch.Response) (*fetch.Response, error) {
	resp.Kind, resp.Size, resp.Time, resp.Validator = fetch.Document, int64(e.size), e.time, e.cid.String()
	if len(l.path) > 0 {
		resp.Media = media.ByName(l.path[len(l.path)-1])
	}
	if resp.Unchanged = selection.Excludes(s.req, resp.Validator, e.time); resp.Unchanged || s.req.Op == fetch.Stat {
		return resp, nil
	}
	first, end, err := selection.Bounds(s.req, resp.Validator, resp.Size, "file")
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	f := &fileReader{get: s.get, first: uint64(first), end: uint64(end)}
	if err := f.push(e); err != nil {
		return nil, err
	}
	resp.Body = &body{f, s}
	return resp, nil
}

// A body is the body of a response, which ends the requests of a store.
type body struct {
	io.Reader
	store *store
}

func (b *body) Close() error { return b.store.Close() }
