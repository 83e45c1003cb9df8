package prospero

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// everything is the argument that requests all attributes of an object. The
// server dirsrv PreAlpha 5.3 returns no attributes if only ACCESS-METHOD is
// requested.
const everything = "#ALL"

// object retrieves an object from the Prospero server. If the server cannot
// send the object, the response is a redirect to another protocol.
func (d *driver) object(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	at, resp, err := d.known(ctx, req, l)
	switch {
	case err != nil:
		return nil, err
	case !resp.Location.IsZero():
		return resp, nil
	}
	away, elsewhere := l.elsewhere(at, req.URL)
	switch {
	case at.isDirectory() && elsewhere:
		resp.Location = away
		return resp, nil
	case at.isDirectory():
		return nil, fetch.NotFound.Errorf("server reports a directory, but has no listing for it")
	}
	if err := l.check(at, req.Trace); err != nil {
		return nil, err
	}
	urls := at.urls(req.URL)
	if elsewhere {
		urls = append(urls, away)
	}
	if (at.contents || len(at.accesses) == 0) && (!l.isAlias() || len(urls) == 0) {
		found, err := d.contents(ctx, req, l, at)
		if err == nil || fetch.FaultOf(err) != fetch.NotFound || len(urls) == 0 {
			return found, err
		}
	}
	if len(urls) == 0 {
		return nil, fetch.Unsupported.Errorf("no supported access method for the object: %s", at.methodNames())
	}
	resp.Location = urls[0]
	return resp, nil
}

// elsewhere returns the URL to which a directory of this server links, if the
// URL names an object on another server or with another name.
func (l locator) elsewhere(at *link, here uri.URI) (uri.URI, bool) {
	if at.raw == "" || at.isDead() { // no link to it
		return uri.URI{}, false
	}
	u, ok := at.url(here)
	if !ok || u.Scheme() != here.Scheme() {
		return uri.URI{}, false
	}
	own, err := fetch.TargetOf(here, port)
	other, err2 := fetch.TargetOf(u, port)
	return u, err == nil && err2 == nil && (other != own || at.name != l.name)
}

// isAlias reports whether the server generates the object from an ftp site. The
// server dirsrv PreAlpha 5.3 crashes if the contents of such an object are
// requested.
func (l locator) isAlias() bool {
	first, _, ok := strings.Cut(l.name, "/")
	return ok && slices.Contains([]string{"AFTP", "GOPHER-GW", "WAIS-GW", archie}, first) || strings.HasPrefix(first, "GOPHER(")
}

// methodNames returns the names of an object's access methods for an error
// message.
func (l *link) methodNames() string {
	var names []string
	for _, a := range l.accesses {
		names = append(names, a.method)
	}
	if names == nil {
		return "there is none"
	}
	return textform.Excerpt(strings.Join(names, ", "))
}

// check compares the attributes of an object with the fields of its URL.
func (l locator) check(at *link, t *trace.Trace) error {
	for _, f := range l.fields {
		v, ok := at.get(f.Name)
		switch {
		case !ok:
			t.Notef("server does not report the %s that the URL requires", f.Name)
		case v != f.Value:
			return fetch.NotFound.Errorf("the object has another %s", f.Name)
		}
	}
	return nil
}

// known requests the attributes of an object. If the server does not know the
// object, the driver requests the link to it in the parent directory. If the
// object has moved, the response is a redirect.
func (d *driver) known(ctx context.Context, req *fetch.Request, l locator) (*link, *fetch.Response, error) {
	at, resp, err := d.read(ctx, req, l.info(everything), &link{target: "OBJECT", host: req.URL.Host(), name: l.name}, "")
	if fetch.FaultOf(err) != fetch.NotFound {
		return at, resp, err
	}
	dir, last, ok := l.parent()
	if !ok {
		return nil, nil, err
	}
	found, resp, parentErr := d.read(ctx, req, linkIn(dir, last), nil, last)
	switch {
	case fetch.FaultOf(parentErr) == fetch.NotFound:
		return nil, nil, err
	case parentErr != nil:
		return nil, nil, parentErr
	case !resp.Location.IsZero(): // the directory and its objects have moved
		moved, err := locate(resp.Location)
		if err == nil {
			moved.name = strings.TrimRight(moved.name, "/") + "/" + last
			resp.Location, err = resp.Location.WithPath(moved.path())
		}
		return found, resp, err
	}
	return found, resp, nil
}

// maxHead is the maximum number of bytes that describe one object.
const maxHead = 256 << 10

func tooMuch() error {
	return fetch.Protocol.Errorf("server sent more than %d bytes about one object", maxHead)
}

// read sends the request ask and returns the attributes of one object from the
// reply. The argument at is the link to the object. If it is nil, read first
// finds the link with the given label in the reply.
func (d *driver) read(ctx context.Context, req *fetch.Request, ask request, at *link, label string) (*link, *fetch.Response, error) {
	r, err := d.send(ctx, req, ask)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	resp := newResponse(r)
	for {
		l, err := r.next()
		switch {
		case err == io.EOF && at == nil:
			return nil, nil, fetch.NotFound.Errorf("the server does not have the object")
		case err == io.EOF:
			return at, resp, nil
		case err != nil:
			return nil, nil, err
		case l.Token(0) == "FORWARDED":
			resp, err = forwarded(r, l, req.URL)
			return at, resp, err
		}
		if len(resp.Head)+len(l.Raw) > maxHead {
			return nil, nil, tooMuch()
		}
		resp.Head = append(append(resp.Head, l.Raw...), '\n')
		switch found, ok := linkOf(l); {
		case ok && at != nil: // the attributes of the next link follow
			return at, resp, nil
		case ok && found.label == label:
			at = &found
		case !ok && at != nil:
			at.add(l)
		}
	}
}

// stat returns the attributes of an object without its contents.
func (d *driver) stat(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	if l.isArchie() {
		req.Trace.Notef("no request was sent: a search has no metadata")
		return &fetch.Response{Kind: fetch.Menu, Size: -1, Proto: "Prospero", Body: http.NoBody}, nil
	}
	at, resp, err := d.known(ctx, req, l)
	if err != nil || !resp.Location.IsZero() {
		return resp, err
	}
	if err := l.check(at, req.Trace); err != nil {
		return nil, err
	}
	resp.Kind, resp.Size, resp.Time, resp.Media = fetch.Document, at.size(), at.time(), media.ByName(l.name)
	if at.isDirectory() {
		resp.Kind, resp.Size, resp.Media = fetch.Menu, -1, ""
	}
	for _, a := range at.attributes {
		resp.Header = append(resp.Header, fetch.Field{Name: a.name, Value: strings.Join(a.tokens, " ")})
	}
	return resp, nil
}

// contents retrieves an object from the server. The object is one quoted token,
// so its closing quote confirms that it is complete.
func (d *driver) contents(ctx context.Context, req *fetch.Request, l locator, at *link) (*fetch.Response, error) {
	r, err := d.send(ctx, req, l.info("CONTENTS"))
	if err != nil {
		return nil, err
	}
	if err := r.seekContents(); err != nil {
		r.Close()
		return nil, err
	}
	resp := newResponse(r)
	resp.Kind, resp.Media, resp.Size, resp.Time = fetch.Document, media.ByName(l.name), at.size(), at.time()
	if !req.Range.IsZero() {
		resp.Size = -1 // otherwise the Client would compare the body with the range
	}
	resp.Body = sessions.NewBody(&contents{r, r.Rest()}, func() { r.Close() })
	return resp, nil
}

// seekContents reads a reply up to the token that holds the contents of the
// object.
func (r *reply) seekContents() error {
	for {
		l, all, err := r.Begin(6)
		switch {
		case err == io.EOF:
			return fetch.NotFound.Errorf("server does not send the contents")
		case err != nil:
			return wireFault(err)
		case !all && l.Token(0) == "ATTRIBUTE" && l.Token(3) == "CONTENTS" && l.Token(5) == "DATA":
			return nil
		case !all:
			if _, err := r.Line(); err != nil && err != io.EOF {
				return wireFault(err)
			}
		}
		if err := refusal(l); err != nil {
			return err
		}
		r.isAside(l)
	}
}

// contents reads the contents of an object from a reply.
type contents struct {
	*reply
	token io.Reader
}

func (c *contents) Read(p []byte) (int, error) {
	c.startTimeout()
	n, err := c.token.Read(p)
	if err == io.EOF { // end of the token; the reply must be complete too
		for err = nil; err == nil; {
			_, err = c.Line()
		}
	}
	return n, lineFault(err)
}
