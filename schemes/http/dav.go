package http

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

// davNames maps the schemes of WebDAV to the schemes of their requests.
var davNames = map[string]string{"dav": "http", "davs": "https"}

// newDAVScheme returns the scheme dav or davs: files and collections of WebDAV
// servers (RFC 4918). Only the listings differ from http.
func newDAVScheme(name string, opts *Options) fetch.Scheme {
	web := davNames[name]
	port := webPorts[web]
	return fetch.Scheme{
		Name:   name,
		Port:   port,
		Help:   davHelp,
		Ports:  scheme.Ports{Class: scheme.WebPorts},
		Links:  scheme.Links{To: []string{name}, Confined: true, From: []string{name}},
		Secure: web == "https",
		Trust:  opts.trusted(),
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Files: scheme.FileNames{Native: true}},
		Proxy:  scheme.ByDriver,
		Menu:   entries.Menu,
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
			req, err := davRequest(req)
			if err != nil {
				return nil, err
			}
			steps, err := plan(req, port, opts)
			if err == nil && isCollection(req.URL) && len(steps) > 0 {
				steps[0].Verb = propfind
			}
			return steps, err
		},
		Open: func(env fetch.Env) fetch.Driver {
			if login := env.Login; login != nil {
				env.Login = func(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) {
					c.Origin.Scheme = name // of the URL, and not of the http request
					return login(ctx, c)
				}
			}
			d := &davDriver{files: newDriver(env, port, opts), lists: newDriver(env, port, opts), env: env}
			d.lists.newRequest = func(_ context.Context, req *fetch.Request) (*wireRequest, error) {
				wr, err := newWireRequest(req, port, &Options{UserAgent: opts.UserAgent, Auth: opts.Auth, PathAsIs: opts.PathAsIs})
				if err == nil {
					wr.method = propfind
					wr.addField("Depth", "1")
				}
				return wr, err
			}
			return d
		},
	}
}

const propfind = "PROPFIND"

// A davDriver retrieves dav and davs URLs.
type davDriver struct {
	files *driver
	lists *driver // sends PROPFIND
	env   fetch.Env
}

// davRequest returns a copy of req with an http or https URL.
func davRequest(req *fetch.Request) (*fetch.Request, error) {
	p := req.URL.Parts()
	p.Scheme = davNames[req.URL.Scheme()]
	u, err := uri.Build(p)
	if err != nil || u.Host() == "" {
		return nil, fetch.BadURL.Errorf("URL must be dav://HOST/PATH")
	}
	web := req.Clone()
	web.URL = u
	return web, nil
}

func isCollection(u uri.URI) bool { return u.Path() == "" || strings.HasSuffix(u.Path(), "/") }

// Do retrieves a file or lists a collection.
func (d *davDriver) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	web, err := davRequest(req)
	if err != nil {
		return nil, err
	}
	if !isCollection(web.URL) {
		resp, err := d.files.Do(ctx, web)
		if err == nil && !resp.Location.IsZero() {
			resp.Location = DAVURL(resp.Location)
		}
		if err == nil && resp.Kind == fetch.Menu {
			resp.Kind = fetch.Document
		}
		return resp, err
	}
	op := web.Op
	web.Op, web.Range, web.IfSame, web.IfNot, web.ErrorBody = fetch.Get, fetch.Range{}, "", "", true
	resp, err := d.lists.Do(ctx, web)
	switch {
	case err != nil:
		return nil, err
	case !resp.Location.IsZero():
		resp.Location = DAVURL(resp.Location)
		return resp, nil
	case resp.Fault != nil:
		return resp, nil
	case resp.Code != http.StatusMultiStatus:
		resp.Body.Close()
		return nil, fetch.Unsupported.Errorf("the server does not support WebDAV: status %d instead of 207", resp.Code)
	}
	resp.Kind, resp.Media, resp.Size, resp.Validator, resp.Digest = fetch.Menu, entries.Media, -1, "", ""
	body := resp.Body
	if op == fetch.Stat {
		body.Close()
		resp.Body = http.NoBody
		return resp, nil
	}
	list := newMultistatus(body, req.URL)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{entries.NewReader(list.next), body}
	return resp, nil
}

// DAVURL returns an http or https URL with the scheme dav or davs. It returns
// other URLs unchanged.
func DAVURL(u uri.URI) uri.URI {
	p := u.Parts()
	for name, web := range davNames {
		if p.Scheme == web {
			p.Scheme = name
			if converted, err := uri.Build(p); err == nil {
				return converted
			}
		}
	}
	return u
}

// Limits of a response to PROPFIND.
const (
	maxDAVToken = 256 << 10 // bytes of a tag or a text
	maxDAVText  = 16 << 10
	maxDAVDepth = 50
)

// A tokenLimit is a reader that fails if a token is longer than maxDAVToken,
// because the decoder keeps a token in memory.
type tokenLimit struct {
	r    io.Reader
	left int
}

func (t *tokenLimit) Read(p []byte) (int, error) {
	if t.left <= 0 {
		return 0, fetch.TooLarge.Errorf("tag or text longer than %d bytes in the listing", maxDAVToken)
	}
	n, err := t.r.Read(p[:min(len(p), t.left)])
	t.left -= n
	return n, err
}

// A multistatus reads the entries of a response to PROPFIND one by one.
type multistatus struct {
	limit *tokenLimit
	xml   *xml.Decoder
	base  uri.URI
	path  string // decoded path of base, which ends in a slash
	begun bool
	ended bool
}

func newMultistatus(r io.Reader, base uri.URI) *multistatus {
	m := &multistatus{limit: &tokenLimit{r: r}, base: base}
	m.xml = xml.NewDecoder(m.limit)
	m.path, _ = uri.Unescape(base.Path())
	m.path = strings.TrimSuffix(m.path, "/") + "/"
	return m
}

func (m *multistatus) token() (xml.Token, error) {
	m.limit.left = maxDAVToken
	t, err := m.xml.RawToken()
	syntax, _ := errors.AsType[*xml.SyntaxError](err)
	switch {
	case err == io.EOF && m.ended:
		return nil, io.EOF
	case err == io.EOF, syntax != nil && syntax.Msg == "unexpected EOF":
		return nil, fetch.Truncated.Errorf("the listing ends early")
	case err != nil && fetch.FaultOf(err) == fetch.Internal:
		return nil, fetch.Protocol.Errorf("invalid listing: %.200s", err) // err can quote a long token
	}
	return t, err
}

// next returns the next entry. It returns io.EOF after the last one.
func (m *multistatus) next() (fetch.Entry, error) {
	for {
		t, err := m.token()
		if err != nil {
			return fetch.Entry{}, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			switch {
			case !m.begun && t.Name.Local != "multistatus":
				return fetch.Entry{}, fetch.Protocol.Errorf("the response is no listing of WebDAV")
			case !m.begun:
				m.begun = true
			case t.Name.Local == "response":
				r, err := m.response()
				if err != nil {
					return fetch.Entry{}, err
				}
				if e, ok := m.entry(r); ok {
					return e, nil
				}
			}
		case xml.EndElement:
			if t.Name.Local == "multistatus" {
				m.ended = true
			}
		}
	}
}

// A davResource contains the properties of a resource.
type davResource struct {
	href, status                string
	length, modified, tag, kind string
	collection                  bool
}

// response reads a response element. Properties count only if their status is
// 200: missing properties have another status, which may follow them.
func (m *multistatus) response() (all davResource, err error) {
	var path []string
	var found davResource
	for {
		t, err := m.token()
		if err != nil {
			return all, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if path = append(path, t.Name.Local); len(path) > maxDAVDepth {
				return all, fetch.Protocol.Errorf("the listing has more than %d nested elements", maxDAVDepth)
			}
			if t.Name.Local == "propstat" {
				found = davResource{}
			}
			found.collection = found.collection || t.Name.Local == "collection"
		case xml.CharData:
			if len(path) > 0 {
				found.add(&all, path, string(t))
			}
		case xml.EndElement:
			if len(path) == 0 { // the end of the response
				return all, nil
			}
			if path = path[:len(path)-1]; t.Name.Local == "propstat" && (found.status == "" || strings.Contains(found.status, " 200")) {
				found.href = all.href
				all = found
			}
		}
	}
}

// add adds a text to the property in which it occurs.
func (r *davResource) add(all *davResource, path []string, text string) {
	to := map[string]*string{"href": &all.href, "status": &r.status, "getcontentlength": &r.length,
		"getlastmodified": &r.modified, "getetag": &r.tag, "getcontenttype": &r.kind}[path[len(path)-1]]
	if to != nil && (path[len(path)-1] != "href" || len(path) == 1) && len(*to)+len(text) <= maxDAVText {
		*to += text
	}
}

// entry converts a resource to an Entry. It returns false for the collection
// itself. A resource that is not in the collection has no URL.
func (m *multistatus) entry(r davResource) (fetch.Entry, bool) {
	href := strings.TrimSpace(r.href)
	e := fetch.Entry{Name: href, Kind: fetch.Info, Size: -1, Raw: href}
	ref, err := uri.ParseReference(href)
	if err != nil {
		return e, true
	}
	web, err := davRequest(&fetch.Request{URL: m.base})
	if err != nil {
		return e, true
	}
	u, err := web.URL.Resolve(ref)
	if err != nil {
		return e, true
	}
	path, err := uri.Unescape(u.Path())
	name, inside := strings.CutPrefix(path, m.path)
	if err == nil && (path == m.path || path+"/" == m.path) {
		return e, false
	}
	name = strings.TrimSuffix(name, "/")
	if err != nil || !inside || u.Host() != web.URL.Host() || u.Parts().Port != web.URL.Parts().Port || name == "" || name == "." || name == ".." ||
		strings.ContainsAny(name, "/\x00") {
		return e, true
	}
	e.Name = strings.ToValidUTF8(name, "\ufffd")
	text := uri.Escape(name, uri.Path)
	if e.Kind, e.Media = fetch.Document, strings.TrimSpace(r.kind); e.Media == "" {
		e.Media = media.ByName(name)
	}
	if r.collection {
		e.Kind, e.Media = fetch.Menu, entries.Media
		text += "/"
	} else if n, err := strconv.ParseInt(strings.TrimSpace(r.length), 10, 62); err == nil && n >= 0 {
		e.Size = n
	}
	e.Time, _ = parseTime(strings.TrimSpace(r.modified))
	if tag := strings.TrimSpace(r.tag); tag != "" && len(tag) < 256 {
		e.Extra = map[string]string{"etag": tag}
	}
	p := m.base.Parts() // without the password
	p.Userinfo, p.HasUserinfo, p.HasQuery, p.Query, p.HasFragment, p.Fragment = "", false, false, "", false, ""
	p.Path = strings.TrimSuffix(p.Path, "/") + "/" + text
	if e.URL, err = uri.Build(p); err != nil {
		e.Kind = fetch.Info
	}
	return e, true
}
