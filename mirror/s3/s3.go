// Package s3 stores the WARC files of a crawl in a bucket of an S3 server. It is
// not part of package mirror, so that other programs do not link an S3 client.
package s3

import (
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/s3"
)

// Options contains the settings of a store. The zero value has no access key.
type Options struct {
	// Getenv returns the values of these variables: AWS_ACCESS_KEY_ID,
	// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE,
	// AWS_SHARED_CREDENTIALS_FILE, AWS_CA_BUNDLE, AWS_REGION, AWS_DEFAULT_REGION,
	// AWS_ENDPOINT_URL_S3 and AWS_ENDPOINT_URL, HOME, and the variables of proxies,
	// such as HTTPS_PROXY. A program can pass [os.Getenv]. If Getenv is nil, all
	// variables are empty.
	Getenv func(name string) string
}

// New returns the store with the given URL:
//
//	s3://BUCKET/PREFIX?region=REGION&endpoint=URL
//
// It does not connect to the server.
func New(url string, o Options) mirror.Store { return bucket{url, o} }

type bucket struct {
	url     string
	options Options
}

func (b bucket) Open() (store.Store, error) { return s3.Open(b.url, b.options.Getenv) }
func (b bucket) String() string             { return b.url }
