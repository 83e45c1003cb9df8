package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/anyurl/fetch/capture"
	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

// A Browser opens the pages of a run. A [browser.Browser] implements it.
type Browser interface {
	// Visit opens a page. The Handler of the visit answers all its requests.
	Visit(ctx context.Context, v *browser.Visit) (*browser.Page, error)

	// UserAgent returns the value of the User-Agent field of the requests.
	UserAgent() string

	// Cookies returns the cookies that a request for u has from the beginning.
	Cookies(u uri.URI, r browser.Relation) string
}

// Limits of a page in a browser.
const (
	maxExchanges   = 5000 // requests of a page
	maxNavigations = 1000 // links that scripts of a page open
	browserPerHost = 6    // connections of a page to a host, as in browsers

	maxBodies = 64 << 20 // bytes of the bodies of all requests of a page

	maxHeads     = 24 << 20 // memory for the heads of the requests and responses of a page
	headCopies   = 3        // copies of the head of a request or a response in an exchange
	exchangeSize = 2 << 10  // memory for an exchange without heads
	maxLinkBytes = 4 << 20  // bytes of the links that scripts of a page open
)

// An openedPage is the result of opening the page of a visit in Options.Browser.
type openedPage struct {
	frames     []browser.Frame     // empty if the browser could not read the page
	links      []openedLink        // URLs that scripts of the page opened
	sources    *capture.PageSource // servers of the documents in the page
	companions []*visit            // objects that the page requested
	extra      []*capture.Exchange // exchanges that are recorded without an object of their own
	copies     []browser.Copy
	failed     bool // if true, the browser could not open or read the page
}

// extraBytes returns the size of the objects and copies that are recorded without an
// object of their own, and of the bodies that the page sent with them.
func (p *openedPage) extraBytes() (n int64) {
	for _, x := range p.extra {
		n += x.Size + x.Request.Outgoing.Size
	}
	for _, k := range p.copies {
		n += int64(len(k.Data))
	}
	return n
}

// free releases the memory and the temporary files of p.
func (p *openedPage) free() {
	if p == nil {
		return
	}
	for _, w := range p.companions {
		w.free()
	}
	for _, x := range p.extra {
		x.Free()
	}
	*p = openedPage{failed: p.failed}
}

// opensInBrowser reports whether the page of v is opened in Options.Browser.
func (c *crawl) opensInBrowser(v *visit) bool {
	return c.o.Browser != nil && v.scheme.Traits.Web && v.resp.Code == http.StatusOK && v.resp.Location.IsZero() &&
		isPage(v.resp.Media) && !v.meta.Requisite && !v.meta.SiteInfo
}

// isPage reports whether a browser shows objects of the given media type as
// pages whose scripts it executes.
func isPage(text string) bool { return browser.IsPage(media.TrimParameters(text)) }

// prepareForBrowser adds the header fields of the browser to the request for v.
// The page is requested without a condition, because the browser needs it.
func (c *crawl) prepareForBrowser(v *visit, req *fetch.Request) {
	if c.o.Browser == nil || !v.scheme.Traits.Web || v.meta.SiteInfo {
		return
	}
	if last := v.item.LastCapture; last != nil && isPage(last.Media) {
		req.IfNot = ""
	}
	req.Header = append(req.Header, fetch.Field{Name: "User-Agent", Value: c.o.Browser.UserAgent()})
	from, err := uri.Parse(v.meta.From) // is zero for a seed
	if err != nil && v.meta.From != "" {
		from = Stranger(v.url).URL
	}
	if cookies := c.o.Browser.Cookies(v.url, browser.RelationOf(v.url, from, v.meta.Requisite)); cookies != "" {
		req.Header = append(req.Header, fetch.Field{Name: "Cookie", Value: cookies})
	}
}

// browserMiddlewares returns the middlewares for the requests of pages in a
// browser. The rules of robots.txt and the pauses apply to the pages themselves.
func (c *crawl) browserMiddlewares() []fetch.Middleware {
	return []fetch.Middleware{wrap.Polite(wrap.PoliteOptions{PerHost: browserPerHost}), registerRequests, c.learnAddresses}
}

// openPage opens the page of v in the browser and stores the exchanges in v.
// If the browser cannot read the page, openPage notes the reason. The error is
// nil then, because the page itself was retrieved.
func (c *crawl) openPage(ctx context.Context, v *visit) error {
	h := &pageHandler{c: c, v: v, sources: capture.NewPageSource(v.url, v.peer())}
	h.answer = browser.Answer{
		Response: v.resp, Body: func() (io.ReadSeeker, error) { return v.body.Reader() },
		Next: &capture.Handler{
			Client: c.browserClient, Record: c.recordOptions(), MaxRequest: capture.MaxPageBody, From: h.source, Responded: h.responded, Store: h.exchanges.Add,
		},
	}
	p := &openedPage{sources: h.sources}
	v.page = p
	opened, err := c.o.Browser.Visit(ctx, &browser.Visit{
		URL: v.url.WithoutFragment().Unredacted(), Handler: &h.answer, Navigate: h.navigate, Restart: h.restart,
	})
	exchanges := h.exchanges.Take()
	switch {
	case ctx.Err() != nil:
		freeExchanges(exchanges)
		return ctx.Err()
	case errors.Is(err, browser.ErrStart):
		freeExchanges(exchanges)
		return fetch.Local.With(err)
	case err != nil:
		p.failed, v.note = true, "browser: "+err.Error()
	default:
		p.frames, p.copies = opened.Frames, opened.Copies
		v.note = strings.Join(opened.Notes, "; ")
	}
	h.mu.Lock()
	p.links = h.links
	h.mu.Unlock()
	return c.addExchanges(ctx, v, exchanges)
}

func freeExchanges(all []*capture.Exchange) {
	for _, x := range all {
		x.Free()
	}
}

// A pageHandler decides about the requests of a page in the browser.
type pageHandler struct {
	c         *crawl
	v         *visit
	answer    browser.Answer
	exchanges capture.Visit
	sources   *capture.PageSource
	requests  atomic.Int64
	bodies    atomic.Int64 // bytes of the bodies of the requests
	heads     atomic.Int64 // memory for the heads of the requests and responses

	mu        sync.Mutex
	links     []openedLink
	linkBytes int
}

// restart removes the exchanges of a browser that has ended.
func (h *pageHandler) restart() {
	freeExchanges(h.exchanges.Take())
	h.answer.Reset()
	h.requests.Store(0)
	h.bodies.Store(0)
	h.heads.Store(0)
}

// An openedLink is a URL that a script opened.
type openedLink struct {
	url    string
	ofPage bool // if false, it can be a script in a frame of another server
}

// navigate keeps a URL that a script of the page or of a frame opened.
func (h *pageHandler) navigate(url string, ofPage bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.links) < maxNavigations && h.linkBytes+len(url) <= maxLinkBytes {
		h.links = append(h.links, openedLink{url, ofPage})
		h.linkBytes += len(url)
	}
}

// source returns the document of the page that supplied the URL of a request. It
// returns an error if the page may not request the URL.
func (h *pageHandler) source(r *http.Request, u uri.URI) (*fetch.Source, error) {
	for _, e := range h.c.o.Scope.Exclude {
		if e.MatchString(u.Unredacted()) {
			return nil, fetch.Denied.Errorf("%s is excluded", u)
		}
	}
	if h.requests.Add(1) > maxExchanges {
		return nil, fetch.TooLarge.Errorf("the page has sent %d requests", maxExchanges)
	}
	body := r.ContentLength
	if body < 0 { // unknown
		body = capture.MaxPageBody
	}
	if body > capture.MaxPageBody || h.bodies.Add(body) > maxBodies {
		return nil, fetch.TooLarge.Errorf("a request of the page has a body of more than %d bytes, or all requests have more than %d", capture.MaxPageBody, maxBodies)
	}
	size := int64(exchangeSize + len(u.Unredacted()))
	for name, values := range r.Header {
		for _, value := range values {
			size += int64(len(name) + len(value) + headCopies*fieldMemory)
		}
	}
	if h.heads.Add(size) > maxHeads {
		return nil, fetch.TooLarge.Errorf("the headers of all requests and responses of the page need more than %d bytes of memory", maxHeads)
	}
	return h.sources.Of(r, u), nil
}

// responded counts the head of a response, which stays in memory until the end of
// the visit.
func (h *pageHandler) responded(x *capture.Exchange) {
	h.heads.Add(headCopies * sizeOfHead(x.Response))
	h.sources.Responded(x)
}

// addFailures adds the number of failed requests to the note of v.
func (v *visit) addFailures(n int) {
	if n == 0 {
		return
	}
	text := fmt.Sprintf("requests of the page that failed: %d", n)
	if v.note != "" {
		text = v.note + "; " + text
	}
	v.note = text
}
