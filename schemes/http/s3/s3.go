// Package s3 implements the scheme s3: objects in buckets of S3 servers. It sends
// requests like schemes/http, with AWS signatures (Signature Version 4).
//
// Pass the result of [Schemes] to fetch.New. The address of the server and the
// access key come only from [Options], never from a URL or from a server.
package s3

import (
	"cmp"
	"strings"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/awsfiles"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

// Options configures the scheme s3. The zero value reads public objects of AWS
// in the region us-east-1.
type Options struct {
	// Endpoint is the address of the server, such as https://HOST:PORT. If it
	// is "", the variables AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL name the
	// server. Otherwise, it is the AWS server in Region.
	Endpoint string

	// Region is the region of the buckets. If it is "", the environment and the
	// shared configuration file of AWS name the region, and the default is
	// us-east-1.
	Region string

	// If Anonymous is true, requests are not signed. They are not signed either
	// if there is no access key, and for a bucket of which the user has entered no
	// URL.
	Anonymous bool

	// Getenv returns the values of environment variables, such as
	// AWS_ACCESS_KEY_ID, AWS_PROFILE and HOME. If it is nil, neither variables
	// nor files are read.
	Getenv func(name string) string

	// HTTP has the settings of the HTTP requests.
	HTTP http.Options
}

// Schemes returns the scheme s3.
func Schemes(o Options) []fetch.Scheme {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	// Without an endpoint, the server depends on a file, which is read at the first
	// request for an s3 URL.
	open := sync.OnceValues(func() (server, error) { return newServer(o) })
	secure := true
	var trust []string
	if o.endpoint() != "" {
		s, err := open()
		if secure = s.endpoint.Scheme() != "http"; err == nil {
			trust = []string{s.address} // the user has configured the server
		}
	}
	return []fetch.Scheme{{
		Name:   "s3",
		Port:   443,
		Trust:  trust,
		Help:   help,
		Ports:  scheme.Ports{Class: scheme.WebPorts, Extra: []uint16{80}},
		Links:  scheme.Links{To: []string{"s3"}, Confined: true, From: []string{"s3"}},
		Secure: secure,
		Traits: scheme.Traits{ReportsSize: true, ListsExactSizes: true, Listing: scheme.Directory, Parents: scheme.Folders},
		Mirror: scheme.Mirroring{Repeats: true, Files: scheme.FileNames{Native: true}},
		Proxy:  scheme.ByDriver,
		Plan: func(req *fetch.Request) ([]scheme.Step, error) {
			s, _ := open() // the driver returns the error
			return plan(req, s)
		},
		Menu: entries.Menu,
		Open: func(env fetch.Env) fetch.Driver {
			o.HTTP.PathAsIs, o.HTTP.Compressed, o.HTTP.Jar, o.HTTP.Legacy = true, false, nil, http.Legacy{}
			env.Login = nil // only the access key is for the server
			d := &driver{env: env, options: o}
			d.server, d.err = open()
			for _, web := range http.Schemes(o.HTTP) {
				if web.Name == d.server.endpoint.Scheme() {
					d.web = web.Open(env)
				}
			}
			return d
		},
	}}
}

// endpoint returns the address of the server that the user has configured, or "".
func (o *Options) endpoint() string {
	return cmp.Or(o.Endpoint, o.Getenv("AWS_ENDPOINT_URL_S3"), o.Getenv("AWS_ENDPOINT_URL"))
}

// A server is the address of an S3 server.
type server struct {
	endpoint uri.URI
	address  string // host and port
	host     string // the same as in the Host field
	region   string
	aws      bool // the host of a bucket is BUCKET.host
}

// newServer returns the server that the options select.
func newServer(o Options) (s server, err error) {
	if s.region = o.Region; s.region == "" {
		if s.region, err = awsfiles.ReadRegion(o.Getenv); err != nil {
			return s, err
		}
	}
	s.region = cmp.Or(s.region, "us-east-1")
	if strings.Trim(s.region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return s, fetch.Usage.Errorf("invalid region %q", s.region)
	}
	text := o.endpoint()
	if text == "" {
		text, s.aws = "https://s3."+s.region+".amazonaws.com", true
	}
	s.endpoint, err = uri.Parse(strings.TrimSuffix(text, "/"))
	_, hasQuery := s.endpoint.Query()
	_, _, hasUser := s.endpoint.User()
	port := map[string]uint16{"http": 80, "https": 443}[s.endpoint.Scheme()]
	if err != nil || port == 0 || s.endpoint.Host() == "" || strings.Trim(s.endpoint.Path(), "/") != "" || hasQuery || hasUser {
		s.endpoint = uri.URI{}
		return s, fetch.Usage.Errorf("the endpoint of s3 must be https://HOST:PORT")
	}
	t, err := fetch.TargetOf(s.endpoint, port)
	if err != nil {
		return s, err
	}
	s.address = t.Address()
	s.host = s.address
	if t.Port == port {
		s.host = s.host[:strings.LastIndexByte(s.host, ':')]
	}
	return s, nil
}

// A locator is a parsed URL.
type locator struct {
	bucket  string
	key     string // key of the object, or prefix of the listing
	version string // version of the object, or ""
	list    bool
}

// maxKey is the maximum length of a key in bytes.
const maxKey = 1024

// locate parses an s3 URL. The URL of a listing ends in "/".
func locate(u uri.URI) (l locator, err error) {
	l.bucket = u.Host()
	if !isBucketName(l.bucket) || u.Parts().Port != "" {
		return l, fetch.BadURL.Errorf("s3 URL must be s3://BUCKET/KEY")
	}
	if u.Parts().HasUserinfo {
		return l, fetch.BadURL.Errorf("s3 URL must not contain an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if l.key, err = uri.Unescape(strings.TrimPrefix(u.Path(), "/")); err != nil {
		return l, fetch.BadURL.With(err)
	}
	if len(l.key) > maxKey {
		return l, fetch.BadURL.Errorf("key longer than %d bytes", maxKey)
	}
	l.list = l.key == "" || strings.HasSuffix(l.key, "/")
	query, ok := u.Query()
	if !ok {
		return l, nil
	}
	value, known := strings.CutPrefix(query, "versionId=")
	if l.version, err = uri.Unescape(value); !known || err != nil || l.version == "" || l.list || strings.Contains(value, "&") {
		return l, fetch.BadURL.Errorf(`the query of an s3 URL must be ?versionId=ID: write "?" in a key as %%3F`)
	}
	return l, nil
}

// isBucketName reports whether name is a valid name of a bucket.
func isBucketName(name string) bool {
	return len(name) >= 3 && len(name) <= 63 && name[0] != '.' && name[0] != '-' && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// plan returns the HTTP requests that the driver sends for req.
func plan(req *fetch.Request, s server) ([]scheme.Step, error) {
	l, err := locate(req.URL)
	if err != nil {
		return nil, err
	}
	method := "GET"
	if req.Op == fetch.Stat && !l.list {
		method = "HEAD"
	}
	c := s.call(l.bucket, l.key)
	switch {
	case l.list:
		c = s.call(l.bucket, "")
		c.query = listQuery(l.key, "", pageSize)
	case l.version != "":
		c.query = "versionId=" + uri.Escape(l.version, uri.Unreserved)
	}
	return []scheme.Step{{Verb: method, Arg: c.target()}}, nil
}
