package browsertest

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A Replay shows the captures of a WACZ file in ReplayWeb.page, a program that
// runs in the browser.
type Replay struct {
	Page *Page // the tab of ReplayWeb.page
}

// OpenWACZ starts a browser that shows the WACZ file with the given path in
// ReplayWeb.page. The parameter first is the URL of the first capture to open.
func OpenWACZ(t *testing.T, path, first string) *Replay {
	t.Helper()
	_, program := peer.NeedModule(t, "replaywebpage@2.5.3", "replaywebpage", "ui.js")
	mux := http.NewServeMux()
	mux.Handle("/replay/", http.StripPrefix("/replay/", http.FileServer(http.Dir(filepath.Dir(program)))))
	mux.HandleFunc("/archive.wacz", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, replayPage, html.EscapeString(first))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &Replay{Start(t, server.Listener.Addr().String()).Open(server.URL)}
}

// replayPage embeds ReplayWeb.page. The function replayed returns the document
// that ReplayWeb.page shows, which is in a frame within a frame. The function
// show opens another capture, as a link does, and marks the previous document.
const replayPage = `<!doctype html><script src="/replay/ui.js"></script>
<replay-web-page source="/archive.wacz" replayBase="/replay/" embed="replayonly" url="%s"></replay-web-page>
<script>
function replayed() {
	let found = document
	for (const tag of ["replay-web-page", "iframe", "replay-app-main", "wr-item", "wr-coll-replay", "iframe"]) {
		found = (found.shadowRoot ?? found.contentDocument ?? found).querySelector(tag)
	}
	return found.contentDocument
}
function show(url, timestamp) {
	const previous = replayed()
	previous.isPrevious = true
	const frame = previous.defaultView
	frame.location.href = frame.location.href.replace(/\/\d*mp_\/.*/, () => "/" + timestamp + "mp_/" + url)
}
</script>`

// Wait waits until a JavaScript condition is true for the capture that is shown.
// In the condition, doc is the document of the capture.
func (r *Replay) Wait(condition string) {
	r.Page.t.Helper()
	r.Page.Wait("(doc => !doc.isPrevious && " + condition + ")(replayed())")
}

// Show opens the latest capture of another URL and waits until a condition is
// true, as Wait does.
func (r *Replay) Show(url, condition string) {
	r.Page.t.Helper()
	r.ShowAt(url, "", condition)
}

// ShowAt is like Show, but opens the capture of the given time or the next
// later one. The timestamp has the form 20261122090000, in UTC.
func (r *Replay) ShowAt(url, timestamp, condition string) {
	r.Page.t.Helper()
	r.Page.Eval(showCall(url, timestamp))
	r.Wait(condition)
}

// Download opens the latest capture of another URL and expects the browser to
// download it. It returns the name and the content of the download.
func (r *Replay) Download(url string) (name string, content []byte) {
	r.Page.t.Helper()
	return r.Page.Download(showCall(url, ""))
}

func showCall(url, timestamp string) string {
	return "show(" + strconv.Quote(url) + ", " + strconv.Quote(timestamp) + ")"
}
