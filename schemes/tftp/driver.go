package tftp

import (
	"context"
	"errors"
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A driver executes requests for tftp URLs, each on its own socket.
type driver struct {
	env     fetch.Env
	options Options
}

func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	selection.IgnoreRange(req, "tftp")
	resp, err := d.get(ctx, req, l, false)
	var refused *fetch.Error
	if errors.As(err, &refused) && refused.Code == codeOptions && fetch.FaultOf(err) == fetch.Protocol && !d.options.NoOptions {
		req.Trace.Notef("the server refused the options: sending the request without options")
		resp, err = d.get(ctx, req, l, true)
	}
	return resp, err
}

// get sends a read request and waits for the first answer.
func (d *driver) get(ctx context.Context, req *fetch.Request, l locator, noOptions bool) (*fetch.Response, error) {
	q, err := d.options.request(l, noOptions)
	if err != nil {
		return nil, err
	}
	target, err := fetch.TargetOf(req.URL, port)
	if err != nil {
		return nil, err
	}
	conn, err := d.env.Net.DialContext(ctx, "udp-any", target.Address())
	if err != nil {
		return nil, err
	}
	t := newTransfer(req.Trace.Tap(conn), q)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	b := sessions.NewBody(t, func() {
		stop()
		t.abort(codeText, nil)
		conn.Close()
	})
	if err := t.start(); err != nil {
		b.Close()
		return nil, err
	}
	req.Trace.Reached(trace.FirstByte, conn)
	req.Trace.Detailf("block size %d, size %d", t.agreement.block, t.size)
	resp := &fetch.Response{
		URL: req.URL, Kind: fetch.Document, Media: media.ByName(l.file), Size: t.size, Proto: "TFTP", Peer: fetch.PeerOf(conn), Body: b,
	}
	if l.mode == "netascii" {
		b.Reader = &netascii{r: t}
	}
	if req.Op == fetch.Stat {
		if t.last { // a server without options has sent the complete file
			resp.Size = int64(len(t.data))
		}
		b.Close()
		resp.Body = http.NoBody
	}
	return resp, nil
}
