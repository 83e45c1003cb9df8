package gopher

import (
	"bytes"
	"context"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// stat tells what is known of an item without bringing it. Plain Gopher knows
// nothing, so nothing is asked.
func (d *driver) stat(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	t := typeOf(l.item)
	resp := &fetch.Response{URL: req.URL, Kind: t.kind, Media: mediaOf(l.item, l.selector, nil), Size: -1, Proto: "Gopher", Body: memory("")}
	if t.kind == fetch.Index && l.words != "" {
		resp.Kind = fetch.Menu
	}
	if l.plus.verb == 0 {
		req.Trace.Notef("nothing was asked: gopher knows nothing of an item but its URL; with %%09%%09! behind it Gopher+ may")
		return resp, nil
	}
	a, asked, err := d.ask(ctx, req, l)
	if err != nil {
		return nil, err
	}
	resp.Proto, resp.Head, resp.Header, resp.Time = asked.Proto, asked.Head, a.header(), a.time()
	resp.Peer, resp.TLS = asked.Peer, asked.TLS
	if m := a.media(); m != "" {
		resp.Media = m
	}
	return resp, nil
}

// ask brings the attributes of an item. The Response, which has no Body, tells
// of the exchange; its Head is what they were read from.
func (d *driver) ask(ctx context.Context, req *fetch.Request, l locator) (attributes, *fetch.Response, error) {
	resp, err := d.get(ctx, req, l.with(askAll))
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
	switch resp.Head, err = io.ReadAll(io.LimitReader(resp.Body, maxAttributes+1)); {
	case err != nil:
		return nil, nil, err
	case len(resp.Head) > maxAttributes:
		return nil, nil, fetch.TooLarge.Errorf("more than %d bytes of attributes for one item", maxAttributes)
	}
	for a, err := range items(bytes.NewReader(resp.Head)) {
		return a, resp, err
	}
	return nil, resp, nil
}
