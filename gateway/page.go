package gateway

import (
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"github.com/anyurl/fetch/internal/tty"
)

// files contains the templates and the style sheet.
//
//go:embed page
var files embed.FS

// pages contains the templates of all pages.
var pages = template.Must(template.New("").Funcs(functions).ParseFS(files, "page/page.html"))

var functions = template.FuncMap{"date": formatDate, "size": formatSize, "text": tty.Escape}

// A page contains the data that all templates use.
type page struct {
	Title   string
	Base    string
	Archive *archiveLink
	Capture *captureLinks // banner, or nil
}

type archiveLink struct{ Name, Path string }

// captureLinks contains the data of a banner.
type captureLinks struct {
	URL, Date, Machine         string
	Previous, Next, All, Bytes string
}

// newPage returns the data of a page about an archive. The archive may be nil.
func (x *exchange) newPage(title string, c *collection) page {
	p := page{Title: tty.Escape(title), Base: x.base}
	if c != nil {
		p.Archive = &archiveLink{tty.Escape(c.Name), c.path}
	}
	return p
}

// newCapturePage returns the data of a page that shows a capture.
func (x *exchange) newCapturePage(title string, t target, s selection) page {
	p := x.newPage(title, t.archive)
	p.Capture = newCaptureLinks(t, s)
	return p
}

func newCaptureLinks(t target, s selection) *captureLinks {
	at, _ := parseTimestamp(s.chosen)
	l := &captureLinks{
		URL: t.url.String(), Date: formatDate(at), Machine: at.Format(time.RFC3339),
		All: t.archive.path + "*/" + t.url.Unredacted(), Bytes: t.archive.pathOf(s.chosen, formBytes, t.url),
	}
	if s.previous != "" {
		l.Previous = t.archive.pathOf(s.previous, formPage, t.url)
	}
	if s.next != "" {
		l.Next = t.archive.pathOf(s.next, formPage, t.url)
	}
	return l
}

// pagePolicy is the Content-Security-Policy of the pages of the interface. They
// contain no script and cannot be framed.
const pagePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
	"frame-ancestors 'none'"

// setPageHeader sets the header fields of a page of the interface.
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

// render writes a template. An error means that the client has closed the
// connection, so nothing more can be written.
func (x *exchange) render(name string, data any) bool {
	return pages.ExecuteTemplate(x.w, name, data) == nil
}

// fail sends a page that describes an error.
func (x *exchange) fail(status int, title, text string) { x.failWith(status, title, text, nil, nil) }

func (x *exchange) failWith(status int, title, text string, c *collection, list []archiveLink) {
	x.w.WriteHeader(status)
	x.render("message", struct {
		page
		Text string
		List []archiveLink
	}{x.newPage(title, c), tty.Escape(text), list})
}

func (x *exchange) notFound() {
	x.fail(http.StatusNotFound, "There is no such page", "The first page lists the archives of this server.")
}

func (x *exchange) home() {
	data := struct {
		page
		Archives []archiveLink
	}{page: x.newPage("Archives", nil)}
	for _, c := range x.archives {
		data.Archives = append(data.Archives, archiveLink{tty.Escape(c.Name), c.path})
	}
	x.render("home", data)
}

func (x *exchange) styleSheet() {
	x.w.Header().Set("Content-Type", "text/css; charset=utf-8")
	x.w.Header().Set("Cache-Control", "max-age=3600")
	if text, err := files.ReadFile("page/style.css"); err == nil {
		x.w.Write(text)
	}
}

// formatDate formats a date for readers.
func formatDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// formatSize formats a number of bytes for readers. The result is "" if the
// number is negative.
func formatSize(n int64) string {
	switch {
	case n < 0:
		return ""
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
