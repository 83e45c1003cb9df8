package s3

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"hash/maphash"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/uri"
)

type driver struct {
	env     fetch.Env
	options Options
	server  server
	buckets buckets
	err     error // the options are invalid
	web     fetch.Driver
}

// Do retrieves an object, or lists the objects with a prefix.
func (d *driver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if d.err != nil {
		return nil, d.err
	}
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	if l.list {
		return d.list(ctx, req, l)
	}
	c := d.server.call(l.bucket, l.key)
	if l.version != "" {
		c.query = "versionId=" + uri.Escape(l.version, uri.Unreserved)
	}
	resp, err := d.send(ctx, req, c, fetch.Field{Name: "x-amz-checksum-mode", Value: "ENABLED"})
	if err != nil {
		return nil, err
	}
	if resp.Code == http.StatusNotFound && l.version == "" && d.isFolder(ctx, req, l) {
		resp.Body.Close()
		return d.folder(req)
	}
	resp.Kind = fetch.Document
	if t := resp.Media; t == "" || t == "binary/octet-stream" {
		resp.Media = media.ByName(l.key)
	}
	if resp.Digest == "" && !resp.Unchanged && resp.Fault == nil && req.Op == fetch.Get {
		resp.Digest = digestOf(resp.Header)
	}
	return resp, nil
}

// digestOf returns the digest of the object in the response, or "". The digest of an
// object that was uploaded in parts is a digest of digests, which ends in the
// number of parts.
func digestOf(h fetch.Header) string {
	if strings.EqualFold(h.Get("x-amz-checksum-type"), "COMPOSITE") {
		return ""
	}
	for _, name := range []string{"sha256", "sha1", "crc32"} {
		if sum, err := base64.StdEncoding.DecodeString(h.Get("x-amz-checksum-" + name)); err == nil && len(sum) > 0 {
			return name + "=" + hex.EncodeToString(sum)
		}
	}
	return ""
}

// folder returns a redirect to the URL with a final slash.
func (d *driver) folder(req *fetch.Request) (*fetch.Response, error) {
	to, err := req.URL.WithPath(req.URL.Path() + "/")
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	return &fetch.Response{Location: to, Size: -1, Body: http.NoBody}, nil
}

// isFolder reports whether there is no object at l, but objects below it.
func (d *driver) isFolder(ctx context.Context, req *fetch.Request, l locator) bool {
	l.key += "/"
	p, err := d.page(ctx, req, l, "", 1)
	return err == nil && len(p.Contents)+len(p.Prefixes) > 0
}

// send sends a request to the server. It follows no redirects, because the
// signature is valid for one server only.
func (d *driver) send(ctx context.Context, req *fetch.Request, c call, more ...fetch.Field) (*fetch.Response, error) {
	u, err := uri.Parse(d.server.endpoint.Scheme() + "://" + c.host + c.target())
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	r := req.Clone()
	r.URL, r.Auth, r.NoFollow, r.ErrorBody = u, nil, true, true
	method := http.MethodGet
	if r.Op == fetch.Stat {
		method = http.MethodHead
	}
	key, signs, denied, err := d.accessKey(req)
	if err != nil {
		return nil, err
	}
	if signs {
		r.Header = append(r.Header, c.sign(method, key, d.server.region, d.env.Now(), more...)...)
	}
	resp, err := d.web.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	if !resp.Location.IsZero() || resp.Code/100 == 3 && !resp.Unchanged {
		resp.Body.Close()
		return nil, fetch.Denied.Errorf("the server redirects to another server, which is not followed: %s", regionAdvice(resp.Header))
	}
	if resp.Fault != nil {
		d.explain(resp)
		if denied {
			adviseEntering(resp, req.URL.Host())
		}
	}
	return resp, nil
}

func regionAdvice(h fetch.Header) string {
	if region := h.Get("x-amz-bucket-region"); region != "" && len(region) < 64 {
		return "the bucket is in the region " + region
	}
	return "check the region and the endpoint"
}

// maxError is the maximum size of an error document in bytes.
const maxError = 16 << 10

// explain adds the error code of the server to the Fault of a response.
func (d *driver) explain(resp *fetch.Response) {
	body := resp.Body
	text, _ := io.ReadAll(io.LimitReader(d.env.Limit(body), maxError))
	var doc struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
		Message string
	}
	if xml.Unmarshal(text, &doc) == nil && doc.Code != "" && len(doc.Code) < 100 {
		message := doc.Code
		if len(doc.Message) < 500 && doc.Message != "" {
			message += ": " + doc.Message
		}
		fault := fetch.FaultOf(resp.Fault)
		switch doc.Code {
		case "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AccessDenied", "RequestTimeTooSkewed":
			fault = fetch.Auth
		case "AuthorizationHeaderMalformed", "PermanentRedirect":
			message += "; " + regionAdvice(resp.Header)
		}
		resp.Fault = fault.Errorf("%w (%s)", resp.Fault, message)
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(text), body), body}
}

// list lists the objects with a prefix. The first page shows whether the listing
// exists.
func (d *driver) list(ctx context.Context, req *fetch.Request, l locator) (*fetch.Response, error) {
	resp := &fetch.Response{Kind: fetch.Menu, Media: entries.Media, Size: -1, Proto: "S3", Body: http.NoBody}
	size := pageSize
	if req.Op == fetch.Stat {
		size = 1
	}
	p, err := d.page(ctx, req, l, "", size)
	if err != nil {
		return nil, err
	}
	if len(p.Contents)+len(p.Prefixes) == 0 && l.key != "" && !p.Truncated {
		return nil, fetch.NotFound.Errorf("no objects with the prefix %q", l.key)
	}
	resp.Peer, resp.TLS = p.response.Peer, p.response.TLS
	if req.Op == fetch.Stat {
		return resp, nil
	}
	ctx, cancel := context.WithCancel(ctx)
	all := &listing{driver: d, ctx: ctx, req: req, where: l, page: p, seen: map[uint64]bool{}, seed: maphash.MakeSeed()}
	resp.Body = sessions.NewBody(entries.NewReader(all.next), cancel)
	return resp, nil
}
