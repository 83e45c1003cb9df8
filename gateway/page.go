package gateway

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

// files contains the HTML templates of the gateway's own pages.
//
//go:embed page
var files embed.FS

// pages returns the parsed templates of all pages.
var pages = sync.OnceValue(func() *template.Template {
	return template.Must(render.Templates(files, "page/*.html"))
})

// A page contains the template data that the gateway's own pages have in
// common.
type page struct {
	render.Page
	Archive *archiveLink
}

type archiveLink struct{ Name, Path string }

// newPage returns the common data of a page. If the page belongs to no archive,
// c is nil.
func (x *exchange) newPage(title string, c *collection) page {
	p := page{Page: render.Page{StyleSheet: x.base + "/style.css", Trail: []render.Link{{Name: "fetch", Path: x.base + "/"}}}}
	if isProxied(x.r) { // a client would resolve a path against another server
		p.StyleSheet, p.Trail = "http://"+x.address+p.StyleSheet, nil
	}
	p.SetTitle(title)
	if c != nil {
		p.Archive = &archiveLink{tty.Escape(c.Name), c.path}
		p.Trail = append(p.Trail, render.Link{Name: p.Archive.Name, Path: c.path})
	}
	return p
}

// newCapturePage returns the data of a page that shows a capture.
func (x *exchange) newCapturePage(title string, t target, s selection) page {
	p := x.newPage(title, t.archive)
	p.Banner = captureBanner(t, s)
	if at, ok := parseTimestamp(s.chosen); ok && x.scripts != nil {
		if to := x.scripts(t.archive.index, at, t.url); to != "" {
			p.Banner.Links = append(p.Banner.Links, render.Link{Name: "with scripts", Path: to})
		}
	}
	p.Banner.Above = p.Trail
	return p
}

// captureBanner returns the banner of a capture.
func captureBanner(t target, s selection) *render.Banner {
	at, _ := parseTimestamp(s.chosen)
	b := &render.Banner{
		Label: "Capture", URL: t.url.String(),
		Facts: []render.Fact{{Name: "Archived", Value: render.FormatDate(at), Machine: at.Format(time.RFC3339)}},
	}
	if code, err := strconv.Atoi(s.line.Status); err == nil && code >= 300 {
		b.Facts = append(b.Facts, render.Fact{Name: "Status", Value: statusText(code)})
	}
	if s.previous != "" {
		b.Links = append(b.Links, render.Link{Name: "previous", Path: t.archive.pathOf(s.previous, formPage, t.url), Rel: "prev"})
	}
	if s.next != "" {
		b.Links = append(b.Links, render.Link{Name: "next", Path: t.archive.pathOf(s.next, formPage, t.url), Rel: "next"})
	}
	b.Links = append(b.Links, render.Link{Name: "all captures", Path: t.archive.path + "*/" + t.url.Unredacted()},
		render.Link{Name: "bytes", Path: t.archive.pathOf(s.chosen, formBytes, t.url)})
	return b
}

// statusText returns an HTTP status code and its name, such as "404 Not Found".
func statusText(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// pagePolicy is the Content-Security-Policy of the gateway's own pages. They
// contain no script and cannot be framed.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// setPageHeader sets the header fields of the gateway's own pages.
func (x *exchange) setPageHeader() {
	h := x.w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("X-Dns-Prefetch-Control", "off")
	h.Set("Content-Type", "text/html; charset=utf-8")
}

// startPreview permits pages of the gateway to show the response in a frame.
func (x *exchange) startPreview() {
	x.preview = true
	h := x.w.Header()
	h.Set("Content-Security-Policy", strings.Replace(pagePolicy, "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
	h.Set("X-Frame-Options", "SAMEORIGIN")
}

// showPreview sends the first lines of a text as a page for a frame.
func (x *exchange) showPreview(v view) {
	x.w.WriteHeader(status(v.Response))
	if x.r.Method != http.MethodHead {
		v.WritePreview(x.w) // an error means that the client closed the connection
	}
}

// render executes a template and sends the result. It returns false if the client
// has closed the connection, so that no more data can be written.
func (x *exchange) render(name string, data any) bool {
	return pages().ExecuteTemplate(x.w, name, data) == nil
}

// fail sends a page that describes an error.
func (x *exchange) fail(status int, title, text string) { x.failWith(status, title, text, nil, nil) }

func (x *exchange) failWith(status int, title, text string, c *collection, list []archiveLink) {
	x.w.WriteHeader(status)
	if x.preview {
		x.render("preview", render.Preview{Page: x.newPage(title, nil).Page, Problem: title + ". " + tty.Escape(text)})
		return
	}
	x.render("message", struct {
		page
		Text string
		List []archiveLink
	}{x.newPage(title, c), tty.Escape(text), list})
}

func (x *exchange) notFound() {
	x.fail(http.StatusNotFound, "There is no such page", "The first page lists the archives of this server.")
}

func (x *exchange) styleSheet() {
	x.w.Header().Set("Content-Type", "text/css; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache") // another version may have another style sheet
	digest := sha256.Sum256(render.StyleSheet())
	tag := `"` + hex.EncodeToString(digest[:8]) + `"`
	x.w.Header().Set("ETag", tag)
	if x.r.Header.Get("If-None-Match") == tag {
		x.w.WriteHeader(http.StatusNotModified)
		return
	}
	x.w.Write(render.StyleSheet())
}
