package browser

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/anyurl/fetch/fetch"
)

// An Answer is a handler for a page that was retrieved before the browser opens
// it. It answers the first request, which is for the page, and passes all other
// requests to Next. The first request is passed too if it has another scheme: the
// browser requests a page of some hosts with https instead of http (RFC 6797), and
// a response without encryption must not get the rights of an encrypted page.
type Answer struct {
	Response *fetch.Response               // response for the page
	Body     func() (io.ReadSeeker, error) // the body that Response has returned
	Next     http.Handler

	answered atomic.Bool
}

// Reset makes the Answer answer the next request too, after the browser has ended
// and opens the page again.
func (a *Answer) Reset() { a.answered.Store(false) }

// ServeHTTP implements http.Handler.
func (a *Answer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scheme, _, _ := strings.Cut(r.RequestURI, ":")
	if !a.answered.CompareAndSwap(false, true) || !strings.EqualFold(scheme, a.Response.URL.Scheme()) {
		a.Next.ServeHTTP(w, r)
		return
	}
	// A driver that removes a content coding returns no size and no validator.
	decoded := a.Response.Size < 0 && a.Response.Validator == ""
	for _, f := range a.Response.Header {
		switch {
		case f.Is("Connection"), f.Is("Keep-Alive"), f.Is("Transfer-Encoding"), f.Is("Content-Length"), f.Is("Trailer"), f.Is("Upgrade"),
			f.Is("Content-Encoding") && decoded:
		default:
			w.Header().Add(f.Name, f.Value)
		}
	}
	body, err := a.Body()
	if err != nil {
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.WriteHeader(a.Response.Code)
	io.Copy(w, body) // an error means that the browser has closed the page
}

// IsPage reports whether a browser shows objects of a media type, without
// parameters, as pages whose scripts it executes.
func IsPage(media string) bool { return media == "text/html" || media == "application/xhtml+xml" }
