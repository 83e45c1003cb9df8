// Package rendering replaces the pages of http and https URLs by their elements
// after a browser has run their scripts, for --render.
package rendering

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc/record"
)

// Forms of a page, which are the values of --render.
const (
	HTML = "html"
	Text = "text"
)

// maxPage is the maximum size of a page that is opened in the browser, in bytes.
const maxPage = 64 << 20

// A Renderer opens pages in a browser. The browser starts with the first page. A
// nil Renderer returns responses unchanged.
type Renderer struct {
	Client *fetch.Client // sends the requests of the pages; set before the first request

	form  string
	agent string // User-Agent; "" means the one of the browser

	mu      sync.Mutex
	browser *browser.Browser // nil before the first page
}

// New returns a Renderer for a value of --render. It returns nil for "". The
// caller must call Close.
func New(form, agent string) *Renderer {
	if form == "" {
		return nil
	}
	if agent == console.Product() {
		agent = ""
	}
	return &Renderer{form: form, agent: agent}
}

// Close ends the browser.
func (r *Renderer) Close() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser != nil {
		r.browser.Close()
	}
}

// Middleware returns a driver that replaces the pages in the responses of next.
// Other objects, error pages and redirects stay as they are.
func (r *Renderer) Middleware(next fetch.Driver) fetch.Driver {
	return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
		resp, err := next.Do(ctx, req)
		if err != nil || req.Outgoing != nil || req.Op != fetch.Get || !req.Scheme().Traits.Web ||
			resp.Code != http.StatusOK || resp.Fault != nil || !resp.Location.IsZero() || !browser.IsPage(media.TrimParameters(resp.Media)) {
			return resp, err
		}
		defer resp.Body.Close()
		text := (&record.Options{}).Spool()
		defer text.Free()
		if err := readPage(text, resp.Body); err != nil {
			return nil, err
		}
		page, err := r.open(ctx, req.URL, resp, text)
		if err != nil {
			return nil, err
		}
		return r.replace(resp, page)
	})
}

// readPage writes the body of a page to text, which needs little memory for a
// long page.
func readPage(text record.Spool, body io.Reader) error {
	n, err := io.Copy(text, io.LimitReader(body, maxPage+1))
	if err == nil && n > maxPage {
		err = fetch.TooLarge.Errorf("page longer than %d bytes", maxPage)
	}
	return err
}

// open opens a page whose text was retrieved.
func (r *Renderer) open(ctx context.Context, u uri.URI, resp *fetch.Response, text record.Spool) (*browser.Page, error) {
	b, err := r.start(ctx)
	if err != nil {
		return nil, fetch.Unsupported.Errorf("no browser: %w", err)
	}
	sources := capture.NewPageSource(u, resp.Peer)
	answer := &browser.Answer{
		Response: resp, Body: func() (io.ReadSeeker, error) { return text.Reader() },
		Next: &capture.Handler{
			Client: r.Client, MaxRequest: capture.MaxPageBody,
			From:      func(r *http.Request, u uri.URI) (*fetch.Source, error) { return sources.Of(r, u), nil },
			Responded: sources.Responded,
			Store:     func(_ context.Context, x *capture.Exchange) error { x.Free(); return nil },
		},
	}
	page, err := b.Visit(ctx, &browser.Visit{URL: u.WithoutUserinfo().WithoutFragment().Unredacted(), Handler: answer, Restart: answer.Reset})
	switch {
	case err == nil:
		return page, nil
	case ctx.Err() != nil:
		return nil, fetch.Canceled.With(context.Cause(ctx))
	case errors.Is(err, browser.ErrStart):
		return nil, fetch.Unsupported.With(err)
	}
	return nil, fetch.Protocol.With(err)
}

// start starts the browser, if it does not run.
func (r *Renderer) start(ctx context.Context) (*browser.Browser, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.browser != nil {
		return r.browser, nil
	}
	o := browser.Options{Agent: r.agent, Product: console.Product(), Child: true}
	if r.form == Text {
		o.Copies = []string{"text"}
	}
	b, err := browser.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	r.browser = b
	return b, nil
}

// replace returns the response with the rendered page as its body. If the browser
// returned only the start of the page, the error is fetch.TooLarge.
func (r *Renderer) replace(resp *fetch.Response, page *browser.Page) (*fetch.Response, error) {
	text, kind, cut := "", "text/html; charset=utf-8", false
	if len(page.Frames) > 0 {
		text, cut = page.Frames[0].HTML+"\n", page.Frames[0].Cut
	}
	if r.form == Text {
		text, kind, cut = strings.TrimRight(page.Text, "\n")+"\n", "text/plain; charset=utf-8", page.CutText
	}
	if cut {
		return nil, fetch.TooLarge.Errorf("the rendered page is longer than %d characters", browser.MaxText)
	}
	rendered := *resp
	rendered.Body, rendered.Size, rendered.Media = io.NopCloser(strings.NewReader(text)), int64(len(text)), kind
	rendered.Validator, rendered.Digest, rendered.Trailer = "", "", nil
	return &rendered, nil
}
