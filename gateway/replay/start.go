package replay

import (
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// StartURL is the URL of a page of a [Proxy] that lists archived pages. No
// archive has a capture of it, because no name below invalid exists (RFC 6761
// section 6.4).
const StartURL = "http://" + startHost + "/"

const startHost = "archive.invalid"

//go:embed page/start.html
var startText string

// startTemplate returns the template of the page at StartURL.
var startTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("start").Parse(startText)) })

// Limits of the list of pages of an archive.
const (
	maxListed = 500    // pages
	maxRead   = 50_000 // index lines
)

// A listed is a page in the list at StartURL.
type listed struct{ URL, Text string }

// start sends the page at StartURL.
func (p *Proxy) start(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("Cache-Control", "no-store")
	type list struct {
		Name  string
		Pages []listed
	}
	var lists []list
	for _, a := range p.Archives {
		lists = append(lists, list{tty.Escape(a.Name), pagesOf(r.Context(), a.Source)})
	}
	startTemplate().Execute(w, lists) // an error means that the client closed the connection
}

// pagesOf returns the pages of an archive: those that it lists, or else the HTML
// documents in its index.
func pagesOf(ctx context.Context, a *warc.Archive) (pages []listed) {
	seen := map[string]bool{}
	add := func(url, title string) {
		u, err := uri.Parse(url)
		if err != nil || !IsShown(u) || seen[url] {
			return
		}
		seen[url] = true
		if title == "" {
			title = u.String()
		}
		pages = append(pages, listed{url, tty.Escape(title)})
	}
	for e, err := range a.Pages() {
		if err != nil || len(pages) == maxListed {
			break
		}
		add(e.URL.Unredacted(), e.Name)
	}
	if len(pages) > 0 {
		return pages
	}
	read := 0
	for l, err := range a.Search("", 0) {
		if read++; err != nil || ctx.Err() != nil || len(pages) == maxListed || read > maxRead {
			break
		}
		if l.Status == "200" && strings.HasPrefix(l.Media, "text/html") && !strings.Contains(l.Key, "__wb_method=") {
			add(l.URL, "")
		}
	}
	return pages
}

// findAny returns the capture in the first archive that answers a request. An
// archive with a similar request answers only if no archive has the request.
func (p *Proxy) findAny(ctx context.Context, req *fetch.Request) (resp *fetch.Response, err error) {
	for _, similar := range []bool{false, true} {
		for _, a := range p.Archives {
			resp, err = find(ctx, a.Source, time.Time{}, similar, req)
			if fetch.FaultOf(err) != fetch.NotFound {
				return resp, err
			}
		}
	}
	return nil, err
}
