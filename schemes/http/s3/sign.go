package s3

import (
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awsfiles"
	"github.com/anyurl/fetch/internal/format/awssign"
)

// A call is an HTTP request to an S3 server.
type call struct {
	host  string // of the Host field
	path  string // encoded
	query string // encoded, with its parameters in order
}

// call returns the request for a key in a bucket. The key "" is the bucket.
func (s server) call(bucket, key string) call {
	if s.aws && !strings.ContainsAny(bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ") { // the certificate covers only one label
		return call{host: bucket + "." + s.host, path: "/" + awssign.EncodePath(key)}
	}
	path := "/" + bucket
	if key != "" {
		path += "/" + awssign.EncodePath(key)
	}
	return call{host: s.host, path: path}
}

// target returns the path and the query of the request line.
func (c call) target() string {
	if c.query == "" {
		return c.path
	}
	return c.path + "?" + c.query
}

// sign returns the header fields of the request: the fields of more, and a
// signature of the request with the key.
func (c call) sign(method string, key awsfiles.AccessKey, region string, now time.Time, more ...fetch.Field) fetch.Header {
	fields := append(slices.Clone(more), fetch.Field{Name: "X-Amz-Content-Sha256", Value: awssign.EmptyDigest})
	k := awssign.Key{ID: key.ID, Secret: key.Secret, Token: key.Token, Region: region, Service: "s3"}
	return k.Sign(awssign.Message{Method: method, Host: c.host, Path: c.path, Query: c.query, Header: fields}, now)
}
