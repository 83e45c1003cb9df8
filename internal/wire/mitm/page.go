package mitm

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"time"
)

func withAuthorization(r *http.Request) context.Context {
	return context.WithValue(r.Context(), authorizationKey{}, r.Header.Get(authorizationField))
}

// refuse answers with an error page and reports the refusal.
func (x *running) refuse(w http.ResponseWriter, r *http.Request, code int, reason string) {
	if x.Refused != nil {
		x.Refused(r, reason)
	}
	WriteError(w, code, reason)
}

// WriteError answers a request with a page that contains the reason of an error.
// The page is not part of the site that the client requested.
func WriteError(w http.ResponseWriter, code int, reason string) {
	limitRest(w)
	h := w.Header()
	clear(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	h.Set("Proxy-Status", `fetch; error=http_request_denied; details="`+fieldText(reason)+`"`) // RFC 9209
	if code == http.StatusProxyAuthRequired {
		h.Set("Proxy-Authenticate", `Basic realm="fetch recording proxy", charset="UTF-8"`)
	}
	w.WriteHeader(code)
	title := fmt.Sprintf("%d %s", code, http.StatusText(code))
	fmt.Fprintf(w, "<!doctype html>\n<html lang=\"en\"><title>%s</title>\n<h1>%s</h1>\n<p>%s</p>\n<p>This page comes from the proxy fetch, not from the site.</p>\n",
		html.EscapeString(title), html.EscapeString(title), html.EscapeString(reason))
}

// limitRest limits the time in which net/http reads the rest of a request whose
// Handler has not read the body. A client could otherwise hold the connection open
// without sending it.
func limitRest(w http.ResponseWriter) {
	http.NewResponseController(w).SetReadDeadline(time.Now().Add(stallTimeout)) // some writers have no deadline
}

// fieldText replaces the characters of text that a string in a structured
// header field cannot contain (RFC 9651).
func fieldText(text string) string {
	out := []byte(text)
	for i, c := range out {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			out[i] = ' '
		}
	}
	return string(out[:min(len(out), 1024)])
}
