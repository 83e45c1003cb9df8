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
	a, text, err := d.ask(ctx, req, l)
	if err != nil {
		return nil, err
	}
	resp.Proto, resp.Head, resp.Header, resp.Time = "Gopher+", text, a.header(), a.time()
	if m := a.media(); m != "" {
		resp.Media = m
	}
	return resp, nil
}

// ask brings the attributes of an item, and their bytes.
func (d *driver) ask(ctx context.Context, req *fetch.Request, l locator) (attributes, []byte, error) {
	l = l.with(askAll)
	s, err := d.exchange(ctx, req, l)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	resp, err := d.read(req, l, s)
	switch {
	case err != nil:
		return nil, nil, err
	case resp.Fault != nil:
		return nil, nil, resp.Fault
	case !resp.Location.IsZero():
		return nil, nil, fetch.NotFound.Errorf("item has moved to %s", resp.Location)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAttributes+1))
	if err != nil {
		return nil, nil, err
	}
	for a, err := range items(bytes.NewReader(text)) {
		return a, text, err
	}
	return nil, text, nil
}
