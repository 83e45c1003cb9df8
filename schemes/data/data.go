// Package data implements the data scheme, whose URLs contain the object itself
// (RFC 2397).
//
// Pass the result of [Schemes] to fetch.New. A data URL uses no network. Like
// Web browsers, the package ignores white space and missing padding in base64.
// Only the user may enter a data URL, and no document may lead to it.
package data

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/schemes/internal/selection"
	"github.com/anyurl/fetch/schemes/internal/sessions"
	"github.com/anyurl/fetch/schemes/internal/textform"
	"github.com/anyurl/fetch/uri"
)

// Schemes returns the scheme data.
func Schemes() []fetch.Scheme {
	return []fetch.Scheme{{
		Name:   "data",
		Help:   help,
		Links:  scheme.Links{Confined: true},
		Traits: scheme.Traits{ReportsSize: true, Embedded: true},
		Proxy:  scheme.ByDriver,
		Plan:   plan,
		Open:   func(fetch.Env) fetch.Driver { return fetch.DriverFunc(do) },
	}}
}

// plan returns one step, which describes the encoding, the size and the media
// type of the object.
func plan(req *fetch.Request) ([]scheme.Step, error) {
	o, err := decode(req.URL)
	if err != nil {
		return nil, err
	}
	return []scheme.Step{{Verb: "decode", Arg: fmt.Sprintf("%s, %d bytes, %s", o.encoding, len(o.data), o.media)}}, nil
}

// An object is the decoded content of a data URL.
type object struct {
	media    string
	encoding string // "percent" or "base64"
	data     []byte
}

// defaultMedia is the media type of a URL without one (RFC 2397 section 2).
const defaultMedia = "text/plain;charset=US-ASCII"

// decode decodes a data URL. A query is a part of the data.
func decode(u uri.URI) (o object, err error) {
	text := u.Path()
	if q, ok := u.Query(); ok {
		text += "?" + q
	}
	head, rest, ok := strings.Cut(text, ",")
	if _, authority := u.Userinfo(); !ok || u.Host() != "" || authority {
		return o, fetch.BadURL.Errorf("data URL must be data:TYPE,TEXT or data:TYPE;base64,TEXT")
	}
	if rest, err = uri.Unescape(rest); err != nil {
		return o, fetch.BadURL.With(err)
	}
	o = object{encoding: "percent", data: []byte(rest)}
	if media, ok := cutBase64(head); ok {
		o.encoding, head = "base64", media
		if o.data, err = decodeBase64(rest); err != nil {
			return o, err
		}
	}
	o.media, err = mediaOf(head)
	return o, err
}

// cutBase64 removes ";base64" from the end of s.
func cutBase64(s string) (media string, ok bool) {
	const suffix = ";base64"
	n := len(s) - len(suffix)
	if n < 0 || !strings.EqualFold(s[n:], suffix) {
		return s, false
	}
	return s[:n], true
}

// decodeBase64 decodes s in the standard or the URL alphabet.
func decodeBase64(s string) ([]byte, error) {
	s = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "", "\f", "", "-", "+", "_", "/").Replace(s)
	s = strings.TrimRight(s, "=")
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fetch.BadURL.Errorf("invalid base64 in a data URL: %w", err)
	}
	return data, nil
}

// mediaOf returns the media type in the head of a data URL. A head that starts
// with a parameter has the type text/plain.
func mediaOf(head string) (string, error) {
	head, err := uri.Unescape(head)
	if err != nil {
		return "", fetch.BadURL.With(err)
	}
	switch {
	case head == "":
		return defaultMedia, nil
	case head[0] == ';':
		head = "text/plain" + head
	}
	if _, _, err := mime.ParseMediaType(head); err != nil || textform.HasControl(head) || !strings.Contains(head, "/") {
		return "", fetch.BadURL.Errorf("invalid media type in a data URL")
	}
	return head, nil
}

func do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	o, err := decode(req.URL)
	if err != nil {
		return nil, err
	}
	resp := &fetch.Response{
		URL: req.URL, Kind: fetch.Document, Media: o.media, Size: int64(len(o.data)), Proto: "data", Body: http.NoBody,
	}
	if req.Op == fetch.Stat {
		return resp, nil
	}
	first, end, err := selection.Bounds(req, "", resp.Size, "object")
	if err != nil {
		return nil, err
	}
	resp.Offset = first
	resp.Body = sessions.NewBody(bytes.NewReader(o.data[first:end]), nil)
	return resp, nil
}
