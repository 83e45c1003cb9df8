package mitm

import (
	"net"
	"net/http"
	"strings"
)

const authorizationField = "Proxy-Authorization"

type authorizationKey struct{}

// ProxyAuthorization returns the value of the field Proxy-Authorization of a
// request, or of the CONNECT request of its tunnel.
func ProxyAuthorization(r *http.Request) string {
	if t := tunnelOf(r); t != nil {
		return t.authorization
	}
	if text, ok := r.Context().Value(authorizationKey{}).(string); ok {
		return text
	}
	return r.Header.Get(authorizationField)
}

// serveOuter answers a request that did not arrive through a tunnel.
func (x *running) serveOuter(w http.ResponseWriter, r *http.Request) {
	isConnect := r.Method == http.MethodConnect
	switch scheme := strings.ToLower(r.URL.Scheme); {
	case !isConnect && strings.HasPrefix(r.RequestURI, "/"):
		x.serveOwn(w, r)
		return
	case !isConnect && scheme != "http" && scheme != "https" || !isConnect && r.URL.Host == "":
		x.refuse(w, r, http.StatusBadRequest, "the proxy answers only requests for http and https URLs")
		return
	}
	if x.Authorize != nil && !x.Authorize(r) {
		w.Header().Set("Proxy-Authenticate", `Basic realm="fetch recording proxy", charset="UTF-8"`)
		x.refuse(w, r, http.StatusProxyAuthRequired, "the proxy requires the token that it printed at its start")
		return
	}
	if isConnect {
		x.openTunnel(w, r)
		return
	}
	x.answer(w, r.WithContext(withAuthorization(r)))
}

func (x *running) serveOwn(w http.ResponseWriter, r *http.Request) {
	if x.Own == nil {
		x.refuse(w, r, http.StatusNotFound, "this server is a proxy, and has no pages of its own")
		return
	}
	limitRest(w)
	x.Own.ServeHTTP(w, r)
}

// serveInner answers a request that arrived through a tunnel.
func (x *running) serveInner(w http.ResponseWriter, r *http.Request) {
	t := tunnelOf(r)
	scheme, usual := "http", "80"
	if t.secure {
		scheme, usual = "https", "443"
	}
	authority := strings.TrimSuffix(t.authority, ":"+usual)
	switch {
	case r.Method == http.MethodConnect:
		x.refuse(w, r, http.StatusBadRequest, "CONNECT is not permitted inside a tunnel")
		return
	case !strings.HasPrefix(r.RequestURI, "/"):
		x.refuse(w, r, http.StatusBadRequest, "the request has no path")
		return
	case !strings.EqualFold(withPort(r.Host, usual), withPort(t.authority, usual)):
		// The policy and the client's certificate check refer to the tunnel.
		x.refuse(w, r, http.StatusMisdirectedRequest, "the request is for another host than the tunnel")
		return
	}
	r.RequestURI = scheme + "://" + authority + r.RequestURI
	r.URL.Scheme, r.URL.Host = scheme, authority
	x.answer(w, r)
}

// withPort returns a host with a port, which is the port usual if host has none.
func withPort(host, usual string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil || port == "" {
		name, port = strings.TrimSuffix(host, ":"), usual
	}
	return net.JoinHostPort(strings.Trim(name, "[]"), port)
}

// answer passes a request to the Handler. An HTTP/2 connection has many requests,
// and each of them needs memory while its client reads nothing.
func (x *running) answer(w http.ResponseWriter, r *http.Request) {
	if upgrade := r.Header.Get("Upgrade"); strings.EqualFold(strings.TrimSpace(upgrade), "websocket") {
		x.refuse(w, r, http.StatusNotImplemented, "WebSocket connections cannot be recorded")
		return
	}
	release, ok := x.requests.acquire(r.Context(), r.RemoteAddr)
	if !ok {
		return
	}
	defer release()
	RemoveHopFields(r.Header)
	x.Handler.ServeHTTP(w, r)
}

// hopFields are the fields that RemoveHopFields removes in addition to those that
// the field Connection names (RFC 9110 section 7.6.1).
var hopFields = [...]string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", authorizationField, "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// RemoveHopFields removes the fields that apply to one connection only, or to a
// proxy.
func RemoveHopFields(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			h.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hopFields {
		h.Del(name)
	}
}
