package replay

import (
	"net/http"
	"strings"

	"github.com/anyurl/fetch/internal/base/baseuri"
)

// A Proxy answers the requests of a browser whose only network is a proxy that
// decrypts https. The browser sends the original URLs, so that the pages need no
// changes. The field URL of a request is the original URL. StartURL lists the
// archived pages.
type Proxy struct {
	Archives []Archive // the first one with a capture answers; its field Time selects the capture

	posts postBudget
}

// ServeHTTP sends the capture that answers a request.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u, err := baseuri.ParseAbsolute(r.URL.String())
	if err != nil {
		refuse(w, http.StatusBadRequest, "The URL is invalid.")
		return
	}
	if u.Host() == startHost {
		p.start(w, r)
		return
	}
	req, release, err := p.posts.requestOf(r, u.WithoutFragment())
	if err != nil {
		refusePost(w, err)
		return
	}
	resp, err := p.findAny(r.Context(), req)
	release()
	if err != nil {
		p.permitOrigin(w, r)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		missing(w, err)
		return
	}
	defer resp.Body.Close()
	for _, f := range resp.Header {
		if !isOfMessage(f.Name) {
			w.Header().Add(f.Name, f.Value)
		}
	}
	p.permitOrigin(w, r)
	if resp.Media != "" && w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", resp.Media)
	}
	send(w, r, req, resp)
}

// permitOrigin permits the page that sent the request to read the response. The
// program that made the capture may have sent no Origin, so that the captured
// response does not permit it.
func (p *Proxy) permitOrigin(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	if method := r.Header.Get("Access-Control-Request-Method"); method != "" {
		h.Set("Access-Control-Allow-Methods", method)
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	}
}

// isOfMessage reports whether a header field describes the captured message or
// its connection, and not the object.
func isOfMessage(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "transfer-encoding", "te", "trailer", "upgrade",
		"content-length", "content-encoding", "content-range", "accept-ranges", "alt-svc", "strict-transport-security":
		return true
	}
	return false
}
