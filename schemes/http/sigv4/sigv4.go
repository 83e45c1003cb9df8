// Package sigv4 signs http requests with AWS Signature Version 4, which S3 and
// compatible servers require.
package sigv4

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// Options configures the signatures.
type Options struct {
	Region  string           // "" means the second label of the host
	Service string           // "" means the first label of the host
	Now     func() time.Time // nil means time.Now
}

// Parse parses the argument of curl's option --aws-sigv4,
// PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]. The only provider is aws:amz.
func Parse(text string) (o Options, err error) {
	part := strings.Split(text, ":")
	if len(part) > 4 {
		return o, fetch.Usage.Errorf("AWS signature: %q is not PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]]", text)
	}
	if part[0] != "aws" || len(part) > 1 && part[1] != "amz" && part[1] != "" {
		return o, fetch.Unsupported.Errorf("AWS signature: only the provider aws:amz is supported")
	}
	if len(part) > 2 {
		o.Region = part[2]
	}
	if len(part) > 3 {
		o.Service = part[3]
	}
	return o, nil
}

// Middleware returns a middleware that replaces the credential of each http and
// https request by a signature. The Client has removed the credential if a
// redirect has left the origin for which it was entered, so that only requests
// to this origin are signed. The middleware must be the innermost one, because a
// signature is valid for some minutes.
func Middleware(o Options) fetch.Middleware {
	if o.Now == nil {
		o.Now = time.Now
	}
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			if scheme := req.URL.Scheme(); req.Auth == nil || req.Auth.User == "" || scheme != "http" && scheme != "https" {
				return next.Do(ctx, req)
			}
			signed, err := o.sign(ctx, req)
			if err != nil {
				return nil, err
			}
			return next.Do(ctx, signed)
		})
	}
}

// sign returns a copy of req with a signature in place of the credential.
func (o Options) sign(ctx context.Context, req *fetch.Request) (*fetch.Request, error) {
	region, service, err := o.scope(req.URL.Host())
	if err != nil {
		return nil, err
	}
	r, err := httpRequest(req)
	if err != nil {
		return nil, err
	}
	empty := sha256.Sum256(nil)
	hash := hex.EncodeToString(empty[:])
	if service == "s3" {
		r.Header.Set("X-Amz-Content-Sha256", hash)
	}
	credentials := aws.Credentials{AccessKeyID: req.Auth.User, SecretAccessKey: req.Auth.Password.Reveal()}
	signer := v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = service == "s3" })
	if err := signer.SignHTTP(ctx, credentials, r, hash, service, region, o.Now()); err != nil {
		return nil, fetch.Usage.Errorf("AWS signature: %w", err)
	}
	next := req.Clone()
	next.Auth = nil
	for _, name := range []string{"Authorization", "X-Amz-Date", "X-Amz-Content-Sha256"} {
		if value := r.Header.Get(name); value != "" {
			next.Header = next.Header.Without(func(n string) bool { return strings.EqualFold(n, name) })
			next.Header = append(next.Header, fetch.Field{Name: name, Value: value})
		}
	}
	return next, nil
}

// scope returns the region and the service. As in curl, they are the labels of a
// host such as s3.eu-west-1.amazonaws.com if the user has not entered them.
func (o Options) scope(host string) (region, service string, err error) {
	region, service = o.Region, o.Service
	label := strings.Split(host, ".")
	if service == "" {
		service = label[0]
	}
	if region == "" && len(label) > 1 {
		region = label[1]
	}
	if region == "" || service == "" {
		return "", "", fetch.Usage.Errorf("AWS signature: a region and a service are required, as in aws:amz:us-east-1:s3")
	}
	return strings.ToLower(region), strings.ToLower(service), nil
}

// httpRequest returns the parts of the request that are signed: the method, the
// URL, the host and the fields of AWS.
func httpRequest(req *fetch.Request) (*http.Request, error) {
	u := req.URL.WithoutUserinfo().WithoutFragment()
	if strings.Contains(u.Path(), "/.") {
		flat, err := u.Resolve(u) // the driver removes dot segments too
		if err != nil {
			return nil, fetch.BadURL.With(err)
		}
		u = flat
	}
	to, err := url.Parse(u.Unredacted())
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	if to.Path == "" {
		to.Path = "/"
	}
	segments := strings.Split(to.Path, "/")
	for i, s := range segments {
		segments[i] = uri.Escape(s, uri.Unreserved) // the signature covers this form, whatever the URL has
	}
	to.RawPath = strings.Join(segments, "/")
	r := &http.Request{Method: http.MethodGet, URL: to, Host: hostField(req, to), Header: http.Header{}}
	if req.Op == fetch.Stat {
		r.Method = http.MethodHead
	}
	for _, f := range req.Header {
		if strings.HasPrefix(strings.ToLower(f.Name), "x-amz-") {
			r.Header.Add(f.Name, f.Value)
		}
	}
	return r, nil
}

// hostField returns the Host field that the driver sends.
func hostField(req *fetch.Request, u *url.URL) string {
	if host := req.Header.Get("Host"); host != "" {
		return host
	}
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		return strings.TrimSuffix(u.Host, ":"+port)
	}
	return u.Host
}
