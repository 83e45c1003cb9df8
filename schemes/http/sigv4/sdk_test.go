package sigv4_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awssign"
	"github.com/anyurl/fetch/schemes/http/sigv4"
	"github.com/anyurl/fetch/uri"
)

// TestBody compares the signature of a request with a body and a query with that
// of the SDK of AWS.
func TestBody(t *testing.T) {
	const digest = "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	r, err := http.NewRequest(http.MethodPut, "https://s3.example/bucket/a%20b?partNumber=2&uploadId=x%20%2By", strings.NewReader("foo"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Content-Sha256", digest)
	m := awssign.Message{Method: r.Method, Host: r.Host, Path: r.URL.EscapedPath(), Query: "partNumber=2&uploadId=x%20%2By", Digest: digest,
		Header: fetch.Header{{Name: "Content-Length", Value: "3"}, {Name: "X-Amz-Content-Sha256", Value: digest}}}
	got := awssign.Key{ID: "ID", Secret: "secret", Region: "us-east-1", Service: "s3"}.Sign(m, now)
	signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true })
	key := aws.Credentials{AccessKeyID: "ID", SecretAccessKey: "secret"}
	if err := signer.SignHTTP(t.Context(), key, r, digest, "s3", "us-east-1", now); err != nil {
		t.Fatal(err)
	}
	if got, want := got.Get("Authorization"), r.Header.Get("Authorization"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSDK compares signatures with those of the SDK of AWS.
func TestSDK(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		url, service, sdkPath string
		header                fetch.Header
	}{
		{"https://s3.example/bucket/a%20b", "s3", "/bucket/a%20b", nil},
		{"https://s3.example/bucket/a=b&c", "s3", "/bucket/a%3Db%26c", nil},
		{"https://h.example/a%20b", "execute-api", "/a%20b", nil},
		{"https://h.example/", "execute-api", "/", nil},
		{"https://h.example", "execute-api", "/", nil},
		{"https://h.example:8443/x?b=2&a=1&a=0&c=x%20y+z&d", "execute-api", "/x", nil},
		{"https://h.example/x", "execute-api", "/x", fetch.Header{{Name: "X-Amz-Meta", Value: " a  b "}, {Name: "x-amz-meta", Value: "c"}, {Name: "Accept", Value: "x"}}},
	} {
		var got string
		next := fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
			got = req.Header.Get("Authorization")
			return &fetch.Response{}, nil
		})
		o := sigv4.Options{Region: "us-east-1", Service: tc.service, Now: func() time.Time { return now }}
		u := uri.MustParse(tc.url)
		req := &fetch.Request{URL: u, Header: tc.header, Auth: &fetch.Credential{User: "ID", Password: "secret"}}
		if _, err := sigv4.Middleware(o)(next).Do(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(tc.url)
		if err != nil {
			t.Fatal(err)
		}
		to.Path, to.RawPath = "", ""
		to = to.JoinPath()
		if to.Path, err = url.PathUnescape(tc.sdkPath); err != nil {
			t.Fatal(err)
		}
		to.RawPath = tc.sdkPath
		r := &http.Request{Method: http.MethodGet, URL: to, Host: to.Host, Header: http.Header{}}
		for _, f := range tc.header {
			if f.Name != "Accept" {
				r.Header.Add(f.Name, f.Value)
			}
		}
		if tc.service == "s3" {
			r.Header.Set("X-Amz-Content-Sha256", awssign.EmptyDigest)
		}
		signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = tc.service == "s3" })
		key := aws.Credentials{AccessKeyID: "ID", SecretAccessKey: "secret"}
		if err := signer.SignHTTP(t.Context(), key, r, awssign.EmptyDigest, tc.service, "us-east-1", now); err != nil {
			t.Fatal(err)
		}
		if want := r.Header.Get("Authorization"); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.url, got, want)
		}
	}
}
