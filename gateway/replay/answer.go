package replay

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/uri"
)

// serveCapture sends the capture of u that is nearest to the time of n.
func (s *Site) serveCapture(w http.ResponseWriter, r *http.Request, n name, u uri.URI) {
	if r.RequestURI == scriptPath {
		s.serveScript(w, n)
		return
	}
	w.Header().Set("Content-Security-Policy", s.contentPolicy(n))
	w.Header().Set("Referrer-Policy", "same-origin")
	s.allowOrigin(w, r, n)
	req, release, err := s.posts.requestOf(r, u)
	if err != nil {
		refusePost(w, err)
		return
	}
	resp, err := find(r.Context(), n.archive.Source, n.time, true, req)
	release()
	if err != nil {
		missing(w, err)
		return
	}
	defer resp.Body.Close()
	w.Header().Set("Cache-Control", "no-cache")
	switch dest := r.Header.Get("Sec-Fetch-Dest"); {
	case !resp.Location.IsZero():
		to := s.urlOf(n, resp.Location)
		if to == "" {
			refuse(w, http.StatusNotFound, "The archived page redirects to a URL that cannot be shown.")
			return
		}
		w.Header().Set("Location", to)
		w.WriteHeader(resp.Code)
	case isDocument(dest) && links.CanRewrite(resp.Media), dest == "style" && isCSS(resp.Media):
		s.rewrite(w, r, n, resp)
	case dest == "worker" || dest == "sharedworker":
		s.sendWorker(w, r, n, req, resp)
	case dest == "script" && req.Range.IsZero():
		s.sendModule(w, r, n, req, resp)
	default:
		setMedia(w, resp)
		if dest == "empty" {
			copyExtensions(w.Header(), resp.Header)
		}
		send(w, r, req, resp)
	}
}

// missing sends an error for a URL without a capture, or with a capture that
// cannot be read.
func missing(w http.ResponseWriter, err error) {
	w.Header().Set("Cache-Control", "no-store")
	if fetch.FaultOf(err) == fetch.NotFound {
		refuse(w, http.StatusNotFound, "The archive has no capture of this URL.")
		return
	}
	refuse(w, http.StatusInternalServerError, "The archive is damaged or incomplete.")
}

// isDocument reports whether a browser shows the response as a document. The
// parameter is the value of Sec-Fetch-Dest.
func isDocument(dest string) bool {
	switch dest {
	case "iframe", "frame", "object", "embed":
		return true
	}
	return false
}

func isCSS(mediaType string) bool { return media.TrimParameters(mediaType) == "text/css" }

// contentPolicy returns the Content-Security-Policy of archived content. It
// permits only requests to the origins that are shown together. The sandbox
// prevents popups and navigations of the tab.
func (s *Site) contentPolicy(n name) string {
	group := "http://*" + s.group(n)
	return "sandbox " + sandbox + "; default-src " + group + " data: blob: 'unsafe-inline' 'unsafe-eval'; frame-src " + group +
		" blob:; object-src " + group + "; worker-src 'self' blob:; form-action " + group + "; base-uri " + group +
		"; frame-ancestors " + group + " " + s.frameOrigin(n.archive)
}

// sandbox lists the permissions of archived pages.
const sandbox = "allow-scripts allow-same-origin allow-forms allow-downloads allow-modals"

// setMedia sets the media type and the date of the last modification.
func setMedia(w http.ResponseWriter, resp *fetch.Response) {
	if resp.Media != "" {
		w.Header().Set("Content-Type", web.ContentType(resp.Media))
	}
	if !resp.Time.IsZero() {
		w.Header().Set("Last-Modified", resp.Time.UTC().Format(http.TimeFormat))
	}
}

// copyExtensions copies the header fields that only scripts read. Other fields
// could change the behaviour of the browser.
func copyExtensions(to http.Header, from fetch.Header) {
	for _, f := range from {
		name := http.CanonicalHeaderKey(f.Name)
		switch {
		case name == "X-Frame-Options", name == "X-Dns-Prefetch-Control", name == "X-Content-Type-Options":
		case strings.HasPrefix(name, "X-"), name == "Etag":
			to.Add(name, f.Value)
		}
	}
}

// send sends the body of a response, or the part of it that req requests.
func send(w http.ResponseWriter, r *http.Request, req *fetch.Request, resp *fetch.Response) {
	h, code, size := w.Header(), statusOf(resp), resp.Size
	if code == http.StatusOK && size >= 0 {
		h.Set("Accept-Ranges", "bytes")
		if first, end, ok := req.Range.Bounds(size); ok && !req.Range.IsZero() {
			code = http.StatusPartialContent
			h.Set("Content-Range", "bytes "+strconv.FormatInt(first, 10)+"-"+strconv.FormatInt(end-1, 10)+"/"+strconv.FormatInt(size, 10))
			size = end - first
		}
	}
	if code == http.StatusPartialContent && resp.Code == http.StatusPartialContent {
		h.Set("Content-Range", resp.Header.Get("Content-Range"))
	}
	if size >= 0 && code != http.StatusNoContent {
		h.Set("Content-Length", strconv.FormatInt(size, 10))
	}
	w.WriteHeader(code)
	if r.Method != http.MethodHead {
		copyBody(w, resp.Body)
	}
}

// statusOf returns the status code of a response. A response without a body of
// its own, such as 304, is sent as a successful one.
func statusOf(resp *fetch.Response) int {
	if resp.Code < 200 || resp.Code > 599 || resp.Code == http.StatusNotModified {
		return http.StatusOK
	}
	return resp.Code
}

// copyBody copies a body. If the body is damaged or truncated, it closes the
// connection, so that the browser notices it.
func copyBody(w http.ResponseWriter, body io.Reader) {
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // net/http recovers it
	}
}
