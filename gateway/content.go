package gateway

import (
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
)

// contentPolicy returns the Content-Security-Policy for archived or live
// content. The sandbox gives each document an origin of its own. Frames have no
// data URLs, because the server does not rewrite their content. Live pages never
// run scripts.
func (h *Handler) contentPolicy(live bool) string {
	sandbox, scripts := "sandbox allow-downloads allow-forms allow-popups", "script-src 'none'"
	if h.scripts && !live {
		sandbox, scripts = sandbox+" allow-scripts", "script-src 'self' 'unsafe-inline' 'unsafe-eval'"
	}
	return sandbox + "; default-src 'self' 'unsafe-inline' data: blob:; " + scripts +
		"; frame-src 'self'; object-src 'self'; worker-src 'none'; form-action 'self'; base-uri 'self'"
}

// setContentHeader sets the header fields of a response with archived or live
// content. Of the original header it passes only the media type and the date of
// the last modification.
func (x *exchange) setContentHeader(resp *fetch.Response) {
	h := x.w.Header()
	policy := x.contentPolicy(x.live)
	if x.unframed {
		policy += "; frame-ancestors 'none'"
	} else {
		h.Del("X-Frame-Options")
	}
	h.Set("Content-Security-Policy", policy)
	h.Del("Cross-Origin-Opener-Policy")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Content-Type", web.ContentType(resp.Media))
	if !resp.Time.IsZero() {
		h.Set("Last-Modified", resp.Time.UTC().Format(http.TimeFormat))
	}
}

// status returns the status code for a document. The archived status is kept if
// it has a meaning without further header fields.
func status(resp *fetch.Response) int {
	if resp.Code == http.StatusNoContent || resp.Code >= 400 && resp.Code <= 599 {
		return resp.Code
	}
	return http.StatusOK
}
