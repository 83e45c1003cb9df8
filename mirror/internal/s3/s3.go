// Package s3 stores objects in a bucket of an S3 server. See package store.
package s3

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
)

// bucket is a Store in a bucket of an S3 server.
type bucket struct {
	api    *client
	prefix string // "", or a prefix that ends in "/"
	url    string
	unless string // value of If-None-Match in requests that create an object, or ""
	ghosts *ghosts
}

// isBucketName reports whether name is a valid bucket name.
func isBucketName(name string) bool {
	return len(name) >= 3 && len(name) <= 63 && name[0] != '.' && name[0] != '-' && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	}) < 0
}

// Open opens the Store with the URL
// s3://BUCKET/PREFIX?region=REGION&endpoint=URL. The function getenv returns the
// values of variables such as AWS_ACCESS_KEY_ID. If it is nil, all variables are
// empty. Open does not connect to the server.
func Open(text string, getenv func(name string) string) (store.Store, error) {
	u, err := store.ParseURL(text, "s3")
	if err != nil {
		return nil, err
	}
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	s := &bucket{prefix: strings.Trim(u.Path, "/"), url: "s3://" + u.Host + u.EscapedPath(), unless: "*",
		ghosts: &ghosts{wait: ghostTime, since: map[string]time.Time{}}}
	if u.User != nil {
		return nil, fetch.Usage.Errorf("the URL of a store must not contain a password: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	if !isBucketName(u.Host) || u.Fragment != "" {
		return nil, fetch.Usage.Errorf("store %s: the URL must be s3://BUCKET/PREFIX", s.url)
	}
	if s.prefix != "" {
		if err := store.CheckName(s.prefix); err != nil {
			return nil, err
		}
		s.prefix += "/"
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, fetch.Usage.Errorf("store %s: invalid query", s.url)
	}
	for name := range query {
		if name != "region" && name != "endpoint" {
			return nil, fetch.Usage.Errorf("store %s: unknown parameter %q: use region and endpoint", s.url, name)
		}
	}
	endpoint := cmp.Or(query.Get("endpoint"), getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"))
	region := cmp.Or(query.Get("region"), getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	switch {
	case endpoint != "":
		if err := checkEndpoint(endpoint); err != nil {
			return nil, fetch.Usage.Errorf("store %s: %w", s.url, err)
		}
		region = cmp.Or(region, "us-east-1")
	case region == "":
		return nil, fetch.Usage.Errorf("store %s: the region is missing: add ?region=REGION", s.url)
	}
	connections, err := newTransport(getenv)
	if err != nil {
		return nil, err
	}
	if s.api, err = newClient(connections, endpoint, region, u.Host, getenv); err != nil {
		return nil, err
	}
	s.url = u.String()
	return s, nil
}

// checkEndpoint returns an error if text is not the address of a server.
func checkEndpoint(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
		return fetch.Usage.Errorf("the endpoint must be https://HOST:PORT")
	}
	if _, err := netip.ParseAddr(u.Hostname()); u.Scheme != "https" && u.Scheme != "http" || err != nil && strings.Contains(u.Hostname(), ":") {
		return fetch.Usage.Errorf("the endpoint must be https://HOST:PORT")
	}
	return nil
}

func (s *bucket) String() string { return s.url }

// key returns the S3 key of the object with the given name.
func (s *bucket) key(name string) string { return s.prefix + name }
