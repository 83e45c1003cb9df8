package replay

import (
	"embed"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

//go:embed page/frame.html page/frame.js page/frame.css
var frameFiles embed.FS

// frameTemplate returns the template of the page with the frame.
var frameTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(frameFiles, "page/frame.html"))
})

// frameOrigin returns the origin of the pages whose frames show an archive.
func (s *Site) frameOrigin(a *archive) string { return "http://" + a.label + topDomain + ":" + s.port }

// serveFrame answers a request to the host name of an archive: for the page with
// a frame, in which the archived page is shown, and for the files of this page.
// The archived page cannot change the address bar, because the frame has another
// origin.
func (s *Site) serveFrame(w http.ResponseWriter, r *http.Request, a *archive) {
	h := w.Header()
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	switch r.RequestURI {
	case "/frame.js":
		h.Set("Content-Type", "text/javascript; charset=utf-8")
		http.ServeFileFS(w, r, frameFiles, "page/frame.js")
		return
	case "/frame.css":
		h.Set("Content-Type", "text/css; charset=utf-8")
		http.ServeFileFS(w, r, frameFiles, "page/frame.css")
		return
	}
	stamp, target, _ := strings.Cut(strings.TrimPrefix(r.RequestURI, "/"), "/")
	at, err := time.Parse(timeForm, stamp)
	u, invalid := baseuri.ParseAbsolute(target)
	if err != nil || invalid != nil || len(stamp) != len(timeForm) {
		refuse(w, http.StatusNotFound, "There is no such page.")
		return
	}
	n := name{archive: a, time: at}
	source := s.urlOf(n, u)
	if source == "" {
		refuse(w, http.StatusNotFound, "Only captures of http and https are shown with their scripts.")
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors 'none'; frame-src http://*"+s.group(n))
	if fragment, ok := u.Fragment(); ok {
		source += "#" + fragment
	}
	frameTemplate().Execute(w, map[string]string{ // an error means that the client closed the connection
		"URL": tty.Escape(u.String()), "Date": render.FormatDate(at), "Machine": at.Format(time.RFC3339), "Home": s.home,
		"Sandbox": sandbox, "Group": s.group(n), "Time": stamp, "Source": source,
	})
}
