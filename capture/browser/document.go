package browser

import (
	"encoding/json"
	"strings"
)

// A document is a part of the event Fetch.requestPaused.
type document struct {
	RequestID, FrameID string
	NetworkID          string // the same for a request and for those to which it is redirected
	Request            struct{ URL, Method string }
}

// documentRequested lets the browser request a document, unless a script of the
// page opens another page.
func (p *page) documentRequested(d document) {
	p.mu.Lock()
	stays := false
	switch {
	case d.FrameID != p.target:
		p.foreign = p.foreign || originOf(d.Request.URL) != originOf(p.first.Request.URL)
	case p.first == document{}:
		p.first = d
	default:
		stays = p.v.Navigate != nil && !d.upgrades(p.first)
	}
	p.mu.Unlock()
	if !stays {
		p.call(p.ctx, "Fetch.continueRequest", map[string]any{"requestId": d.RequestID}, nil)
		return
	}
	if d.Request.Method == "GET" {
		p.opened(d.Request.URL)
	}
	p.note("the page was kept, although a script opened another page")
	// A response without content leaves the page as it is.
	p.call(p.ctx, "Fetch.fulfillRequest", map[string]any{"requestId": d.RequestID, "responseCode": 204}, nil)
}

// upgrades reports whether the browser itself redirects first to https, because
// the host is in its HSTS list (RFC 6797).
func (d document) upgrades(first document) bool {
	rest, plain := strings.CutPrefix(first.Request.URL, "http:")
	return plain && d.NetworkID == first.NetworkID && d.Request.URL == "https:"+rest
}

// originOf returns the start of a URL up to its path. The browser writes the scheme
// and the host of each URL in the same form.
func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return scheme + "://" + rest[:end]
}

// link passes the member url of the parameters of an event to Visit.Navigate.
func (p *page) link(params json.RawMessage) {
	var l struct{ URL string }
	json.Unmarshal(params, &l)
	p.opened(l.URL)
}

// opened passes a URL that a script opened to Visit.Navigate.
func (p *page) opened(url string) {
	p.mu.Lock()
	foreign := p.foreign
	p.mu.Unlock()
	if p.v.Navigate != nil && url != "" {
		p.v.Navigate(url, !foreign)
	}
}
