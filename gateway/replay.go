package gateway

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/web"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/uri"
)

// capture serves the capture that is nearest to the period of t.
func (x *exchange) capture(t target) {
	if x.isForeignPart(t) {
		x.refuseOrigin()
		return
	}
	x.forbidParts(t)
	if t.first {
		x.startPreview()
	}
	s, err := t.archive.choose(x.r.Context(), t.url, t.period)
	if err == nil && s.chosen == "" && x.withoutCapture(t) {
		return
	}
	if err != nil || s.chosen == "" {
		x.missing(t, err)
		return
	}
	resp, err := x.open(t, s)
	if err != nil {
		x.missing(t, err)
		return
	}
	defer resp.Body.Close()
	x.setMementoHeader(t, s)
	x.w.Header().Set("Cache-Control", "no-cache")
	switch {
	case !resp.Location.IsZero():
		x.w.Header().Set("Location", x.pathOf(t, s.chosen, resp.Location))
		x.w.WriteHeader(redirectStatus(resp.Code))
	case t.part != "":
		x.part(t, resp)
	case t.first:
		x.showPreview(x.captureView(t, s, resp))
	case t.form == formBytes:
		x.attach(resp.Media, nameOf(t.url))
		x.raw(resp)
	default:
		x.show(x.captureView(t, s, resp))
	}
}

// open returns the archived response of a capture, from the cache if possible.
func (x *exchange) open(t target, s selection) (*fetch.Response, error) {
	key := objectKey{t.archive, s.line.File, s.line.Offset, s.line.Timestamp, s.line.Digest, t.url.Unredacted()}
	if resp, ok := x.objects.get(key); ok {
		return resp, nil
	}
	resp, err := x.readCapture(t, s)
	if err != nil {
		return nil, err
	}
	return x.objects.record(key, resp), nil
}

// readCapture reads a capture from the archive. The driver of an archive has no
// access to a network.
func (x *exchange) readCapture(t target, s selection) (*fetch.Response, error) {
	at, _ := parseTimestamp(s.chosen)
	source := *t.archive.Source // the copy shares the files
	source.Time, source.Until = at, at
	source.Decode, source.Raw = true, false
	req := &fetch.Request{URL: t.url}
	resp, err := source.Replay(x.r.Context(), req, s.line)
	if fetch.FaultOf(err) == fetch.NotFound { // another record with the same timestamp may contain a capture
		driver := source.Schemes(fetch.Scheme{Name: t.url.Scheme()})[0].Open(fetch.Env{})
		resp, err = driver.Do(x.r.Context(), req)
	}
	if err != nil || resp.Media != "" {
		return resp, err
	}
	sniff(resp, t.url)
	return resp, nil
}

type readCloser struct {
	io.Reader
	io.Closer
}

// redirectStatus returns the status code for a redirect with the given original
// code.
func redirectStatus(code int) int {
	switch code {
	case 301, 302, 303, 307, 308:
		return code
	}
	return http.StatusFound
}

// missing sends the page for a URL that has no capture, or for a capture that
// cannot be read.
func (x *exchange) missing(t target, err error) {
	status, title := http.StatusNotFound, "The archive has no capture of this URL"
	search := t.archive.path + "?prefix=" + url.QueryEscape(t.url.String())
	list := []archiveLink{{"Captured URLs that begin with this URL", search}}
	text := t.url.String() + " is not in the archive. The server does not retrieve it from the network."
	if err != nil && fetch.FaultOf(err) != fetch.NotFound {
		status, title, text = http.StatusInternalServerError, "The capture cannot be read", problemText(err)
	} else if err != nil {
		text = err.Error()
	}
	if err != nil {
		list = []archiveLink{{"All captures of this URL", t.archive.path + "*/" + t.url.Unredacted()}}
	}
	x.failWith(status, title, text, t.archive, list)
}

// problemText describes an error of an archive. It reveals no paths of files.
func problemText(err error) string {
	return "The archive is damaged or incomplete (" + fetch.FaultOf(err).Error() + ")."
}

// raw sends the body of resp without changes, or the range of its bytes that the
// client requests.
func (x *exchange) raw(resp *fetch.Response) {
	x.setContentHeader(resp)
	first, end, code := x.bounds(resp)
	x.setRangeHeader(first, end, resp.Size, code)
	x.w.WriteHeader(code)
	if x.r.Method == http.MethodHead || code == http.StatusRequestedRangeNotSatisfiable {
		return
	}
	x.streamBody(resp)
	if err := x.skip(resp.Body, first-resp.Offset); err != nil {
		x.abort()
		return
	}
	out := io.Writer(x.w)
	if end < 0 || end-first > largeBody {
		out = deadlineWriter{x.w, x.deadline}
	}
	var err error
	if end < resp.Size {
		_, err = io.CopyN(out, resp.Body, end-first)
	} else {
		err = copyBody(out, resp.Body, end-first)
	}
	if err != nil {
		x.abort()
	}
}

// copyBody copies a body of the given size, or of unknown size if size is
// negative. It writes the last byte after it has read the end of the body without
// an error. The client thus notices damage although it receives a Content-Length.
func copyBody(out io.Writer, body io.Reader, size int64) error {
	if size <= 0 {
		_, err := io.Copy(out, body)
		return err
	}
	if _, err := io.CopyN(out, body, size-1); err != nil {
		return err
	}
	last, err := io.ReadAll(io.LimitReader(body, 2)) // more than one byte is an error of http.ResponseWriter
	if err == nil {
		_, err = out.Write(last)
	}
	return err
}

// largeBody is the size in bytes above which the bytes of a body extend the
// time limit of the request.
const largeBody = 8 << 20

// A view is a document with the data that is needed to display it in a browser.
type view struct {
	render.View
	form        form
	replacement func(l links.Link) string // the path that replaces a link of an HTML page, or ""
}

// show sends a document as a page of the gateway, with rewritten links, or
// unchanged.
func (x *exchange) show(v view) {
	resp, kind := v.Response, v.View.Form()
	switch {
	case kind == render.Listing, kind == render.Gemtext, kind == render.Search, kind == render.Ask, kind == render.Session:
		x.document(v)
	case kind == render.Web || v.form == formPlain && links.CanRewrite(resp.Media):
		x.rewrite(v)
	case v.form == formPlain:
		x.attach(resp.Media, nameOf(v.URL))
		x.raw(resp)
	case kind == render.Download:
		x.w.Header().Set("Content-Disposition", attachment(nameOf(v.URL)))
		x.raw(resp)
	default:
		x.document(v)
	}
}

// document renders a document as a page of the gateway, and sends it.
func (x *exchange) document(v view) {
	if v.Response != nil {
		x.w.WriteHeader(status(v.Response))
		x.streamBody(v.Response)
	}
	if x.r.Method != http.MethodHead {
		v.Write(x.r.Context(), x.w) // an error means that the client closed the connection
	}
}

// attach makes browsers download a document whose links are not rewritten, unless
// its media type is known to cause no connections. In Chromium, the policy of
// the response does not block connections that a page requests by preconnect.
func (x *exchange) attach(mediaType, name string) {
	kind := media.TrimParameters(mediaType)
	switch top, _, _ := strings.Cut(kind, "/"); {
	case top == "image" && kind != "image/svg+xml", top == "audio", top == "video", top == "font",
		kind == "text/plain", kind == "text/css", kind == "text/javascript", kind == "application/javascript":
		return
	}
	x.w.Header().Set("Content-Disposition", attachment(name))
}

// nameOf returns the file name of a URL, or "file".
func nameOf(u uri.URI) string {
	name, err := uri.Unescape(path.Base(u.Path()))
	name = strings.Trim(strings.ReplaceAll(path.Base(name), `\`, "_"), ".")
	if err != nil || name == "" || name == "/" {
		return "file"
	}
	return name
}

// attachment returns a value of Content-Disposition that makes browsers save
// the response as a file.
func attachment(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
	return cmp.Or(mime.FormatMediaType("attachment", map[string]string{"filename": name}), "attachment")
}

// rewrite sends an HTML page or a style sheet with replaced links.
func (x *exchange) rewrite(v view) {
	resp := v.Response
	resp.Body = web.DecodeHTML(resp)
	x.setContentHeader(resp)
	x.w.WriteHeader(status(resp))
	if x.r.Method == http.MethodHead {
		return
	}
	x.streamBody(resp)
	out := io.Writer(x.w)
	var banner *inserter
	if v.form == formPage && v.Page.Banner != nil {
		var text bytes.Buffer
		v.Page.Banner.Insert(&text) // a buffer returns no error
		banner = &inserter{out: x.w, text: text.Bytes()}
		out = banner
	}
	err := links.Rewrite(out, x.scheme, v.URL, resp.Media, resp.Header, resp.Body, v.replacement)
	if banner != nil {
		err = errors.Join(err, banner.flush())
	}
	if err != nil {
		x.abort()
	}
}

// replacement returns the path that replaces a link, or "" for a link that
// cannot lead to a capture.
func (x *exchange) replacement(t target, s selection, l links.Link) string {
	scheme, ok := x.schemes[l.URL.Scheme()]
	if !ok || scheme.Traits.Session || l.URL.Scheme() == "mailto" {
		return ""
	}
	if l.Kind == links.Requisite || l.Kind == links.Frame {
		t.form = formPlain
	}
	return x.pathOf(t, s.chosen, l.URL)
}

// pathOf returns the path of a capture of u in the same form as t.
func (x *exchange) pathOf(t target, timestamp string, u uri.URI) string {
	if t.form == formPlain {
		return x.partOf(t.archive, timestamp, u)
	}
	return t.archive.pathOf(timestamp, t.form, u)
}

// part sends the decoded content of one part of an archived message.
func (x *exchange) part(t target, resp *fetch.Response) {
	p, body, err := openPart(resp, t.part)
	if err != nil {
		x.missing(t, err)
		return
	}
	x.attach(p.Media, render.PartName(p))
	x.raw(&fetch.Response{Media: p.Media, Size: -1, Body: io.NopCloser(body)})
}

// openPart returns a part of a message and its decoded content.
func openPart(resp *fetch.Response, number string) (p *rfc822.Part, body io.Reader, err error) {
	if p, err = rfc822.FindNumber(resp.Body, number); err != nil {
		return nil, nil, err
	}
	body, err = p.Body(func(string, ...any) {})
	return p, body, err
}
