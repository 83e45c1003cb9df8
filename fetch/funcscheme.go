package fetch

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// FuncScheme returns a scheme without a network, whose objects are the results of
// the function get: a media type such as "text/html", and the object. The
// function get is called by several goroutines at the same time. An error without
// a Fault gets the Fault [Internal]; NotFound.Errorf("no %s", u) has one.
//
// Documents can lead to other URLs of the scheme, which a mirror then follows.
// Every Policy allows the URLs. A Range is supported, and conditions are not. The
// Client needs no other scheme:
//
//	echo := fetch.FuncScheme("echo", func(u uri.URI) (media, object string, err error) {
//		return "text/html", "<p>" + u.Path() + ` <a href="echo:two">two</a>`, nil
//	})
//	client := fetch.New(fetch.Options{}, echo)
//	resp, err := client.Get(ctx, "echo:one")
//
// The file doc/library-archives.md has a program that also mirrors and serves such
// a scheme. Other schemes are literals of type Scheme with a [Driver].
func FuncScheme(name string, get func(u uri.URI) (media, object string, err error)) Scheme {
	do := func(_ context.Context, req *Request) (*Response, error) {
		media, object, err := get(req.URL)
		if err != nil {
			return nil, FaultOf(err).With(err)
		}
		return textResponse(req, media, object)
	}
	return Scheme{Name: name, Links: scheme.Links{To: []string{name}}, Open: func(Env) Driver { return DriverFunc(do) }}
}

// textResponse returns the part of object that req selects. Objects have no
// validator, so that a range with IfSame selects the complete object.
func textResponse(req *Request, media, object string) (*Response, error) {
	resp := &Response{Kind: Document, Media: media, Size: int64(len(object)), Body: http.NoBody}
	if req.Op == Stat {
		return resp, nil
	}
	selected := req.Range
	if req.IfSame != "" {
		selected = Range{}
	}
	first, end, ok := selected.Bounds(resp.Size)
	if !ok && first != resp.Size {
		return nil, Denied.Errorf("range starts at byte %d, but the object has %d bytes", first, resp.Size)
	}
	resp.Offset = first
	resp.Body = io.NopCloser(strings.NewReader(object[first:max(first, end)]))
	return resp, nil
}
