package clientflags

import (
	"os"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/s3"
)

// s3Flags are the flags for s3 URLs.
type s3Flags struct {
	endpoint  string
	region    string
	anonymous bool
}

func (f *s3Flags) register(s *options.Set) {
	p := s.Section("S3")
	p.StringVar(&f.endpoint, "s3-endpoint", "", "use the S3 server at `URL`, such as https://HOST:PORT")
	p.StringVar(&f.region, "s3-region", "", "the `REGION` of the buckets (default us-east-1)")
	p.BoolVar(&f.anonymous, "s3-anonymous", false, "do not sign requests to S3 servers")
}

func (f *s3Flags) options(web http.Options) s3.Options {
	return s3.Options{Endpoint: f.endpoint, Region: f.region, Anonymous: f.anonymous, Getenv: os.Getenv, HTTP: web}
}
