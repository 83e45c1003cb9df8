package gopher

import (
	"bytes"
	"context"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// stat returns the metadata of an item without its content. Plain Gopher has no
// request for metadata, so stat sends a request only for Gopher+ URLs.
func (d *driver) stat(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	t := typeOf(l.item)
	resp := &fetch.Response{
		URL: req.URL, Kind: t.kind, Media: mediaOf(l.item, l.selector, nil),
		Size: -1, Proto: "Gopher", Body: stringBody(""),
	}
	if t.kind == fetch.Index && l.words != "" {
		resp.Kind = fetch.Menu
	}
	if l.plus.verb == 0 {
		req.Trace.Notef("no request sent: plain gopher has no metadata; append %%09%%09! to the URL for Gopher+ attributes")
		return resp, nil
	}
	a, got, err := d.requestAttributes(ctx, req, l)
	if err != nil {
		return nil, err
	}
	resp.Proto, resp.Head, resp.Header, resp.Time = got.Proto, got.Head, a.header(), a.time()
	resp.Peer, resp.TLS = got.Peer, got.TLS
	if m := a.media(); m != "" {
		resp.Media = m
	}
	return resp, nil
}

// requestAttributes requests the Gopher+ attributes of an item. The returned
// Response has no Body. Its field Head contains the attributes as sent by the
// server.
func (d *driver) requestAttributes(
	ctx context.Context, req *fetch.Request, l locator,
) (attributes, *fetch.Response, error) {
	resp, err := d.get(ctx, req, l.withCommand(allAttributes))
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.Fault != nil:
		return nil, nil, resp.Fault
	case !resp.Location.IsZero():
		return nil, nil, fetch.NotFound.Errorf("item has moved to %s", resp.Location)
	}
	switch resp.Head, err = io.ReadAll(io.LimitReader(d.env.Limit(resp.Body), maxAttributes+1)); {
	case err != nil:
		return nil, nil, err
	case len(resp.Head) > maxAttributes:
		return nil, nil, fetch.TooLarge.Errorf("attributes of one item exceed %d bytes", maxAttributes)
	}
	for a, err := range items(bytes.NewReader(resp.Head)) {
		return a, resp, err
	}
	return nil, resp, nil
}
