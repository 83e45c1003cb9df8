package gateway

import (
	"net/http"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
)

// contentPolicy is the Content-Security-Policy for archived or live content. The
// sandbox gives each document a separate origin, and runs no scripts. Frames
// have no data URLs, because the server does not rewrite their content.
const contentPolicy = "sandbox allow-downloads allow-forms allow-popups; default-src 'self' 'unsafe-inline' data: blob:; " +
	"script-src 'none'; frame-src 'self'; object-src 'self'; worker-src 'none'; form-action 'self'; base-uri 'self'"

// setContentHeader sets the header fields of a response with archived or live
// content. Of the original header it passes only the media type and the date of
// the last modification.
func (x *exchange) setContentHeader(resp *fetch.Response) {
	h := x.w.Header()
	policy := contentPolicy
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
