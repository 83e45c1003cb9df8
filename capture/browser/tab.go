package browser

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// A tab is a proxy for one page at a time. It can assign each request to its
// page, because each tab has its own listener.
type tab struct {
	in    *instance
	proxy string // URL of the proxy for the browser

	mu      sync.Mutex
	current *traffic // requests of the page that is open, or nil
}

// traffic counts the requests of a visit.
type traffic struct {
	ctx     context.Context // ends the requests
	handler http.Handler
	note    func(string)

	mu        sync.Mutex
	documents int             // requested documents
	sites     map[string]bool // their sites
	running   int
	changed   time.Time     // start or end of the last request
	ended     bool          // if true, no request starts
	idle      chan struct{} // closed when ended is true and no request runs
}

func newTraffic(ctx context.Context, h http.Handler, note func(string)) *traffic {
	return &traffic{ctx: ctx, handler: h, note: note, sites: map[string]bool{}, changed: time.Now(), idle: make(chan struct{})}
}

// set sets the visit whose requests the tab answers.
func (t *tab) set(v *traffic) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = v
}

// ServeHTTP answers a request of the page.
func (t *tab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	v := t.current
	t.mu.Unlock()
	if v == nil || !v.begin() {
		http.Error(w, "the page was closed", http.StatusServiceUnavailable)
		return
	}
	defer v.end()
	if isDocument(r) && !v.admits(siteOf(r.URL.Scheme, r.URL.Hostname())) {
		v.note(fmt.Sprintf("frames were not loaded, because a page has at most %d documents of %d sites", maxDocuments, maxSites))
		w.WriteHeader(http.StatusNoContent) // the frame stays empty
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(v.ctx, cancel)()
	if r.Header.Get("User-Agent") != "" {
		r.Header.Set("User-Agent", t.in.agent)
	}
	for _, name := range []string{"Sec-Ch-Ua", "Sec-Ch-Ua-Full-Version-List"} {
		if brands := r.Header.Get(name); brands != "" {
			r.Header.Set(name, strings.ReplaceAll(brands, "HeadlessChrome", "Chrome"))
		}
	}
	v.handler.ServeHTTP(&response{ResponseWriter: w}, r.WithContext(ctx))
}

// Limits for the documents that a page requests for itself and its frames. The
// browser has a process for each site, which needs about 100 MiB of memory.
const (
	maxDocuments = 200
	maxSites     = 20
)

// isDocument reports whether a request is for a document of the page or of a frame.
func isDocument(r *http.Request) bool { return r.Header.Get("Upgrade-Insecure-Requests") != "" }

// siteOf returns the site of a URL: its scheme, and its domain below a public
// suffix or its IP address. An IPv6 address has no brackets.
func siteOf(scheme, host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil && net.ParseIP(host) == nil {
		host = domain
	}
	return scheme + "://" + host
}

// admits reports whether the page may request a document of a site, and counts
// both.
func (v *traffic) admits(site string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.documents == maxDocuments || !v.sites[site] && len(v.sites) == maxSites {
		return false
	}
	v.documents++
	v.sites[site] = true
	return true
}

// begin counts a request that starts. It returns false if the page was closed.
func (v *traffic) begin() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended {
		return false
	}
	v.running++
	v.changed = time.Now()
	return true
}

// end counts a request that has ended.
func (v *traffic) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.running--
	v.changed = time.Now()
	v.signal()
}

// close lets no further request start.
func (v *traffic) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = true
	v.signal()
}

// signal closes v.idle after the last request. The caller holds v.mu.
func (v *traffic) signal() {
	if !v.ended || v.running > 0 {
		return
	}
	select {
	case <-v.idle:
	default:
		close(v.idle)
	}
}

// quiet returns the time since the last request ended, or 0 if a request runs.
func (v *traffic) quiet() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.running > 0 {
		return 0
	}
	return time.Since(v.changed)
}

// A response removes the header fields for which the browser would wait for the
// user. The handler has recorded the response of the server before.
type response struct {
	http.ResponseWriter
}

// WriteHeader implements http.ResponseWriter.
func (w *response) WriteHeader(code int) {
	w.Header().Del("WWW-Authenticate")
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap returns the wrapped ResponseWriter for http.ResponseController.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *response) Flush() { http.NewResponseController(w.ResponseWriter).Flush() }
