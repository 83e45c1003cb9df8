// Package sigv4 signs http requests with AWS Signature Version 4, which S3 and
// compatible servers require:
//
//	client := schemes.NewClient(fetch.Typed()).With(sigv4.Middleware(sigv4.Options{}))
//	req := &fetch.Request{URL: u, Auth: &fetch.Credential{User: keyID, Password: secret}}
//
// The scheme s3 of package [github.com/anyurl/fetch/schemes/http/s3] signs its
// requests itself.
package sigv4

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awssign"
	"github.com/anyurl/fetch/internal/wire/httpauth"
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
// https request by a signature. Only requests to the origin for which the
// credential was entered are signed. After a redirect to another origin, requests
// have no credential, also if [fetch.Options].RedirectLogin has one. If the field
// LocationTrusted of the [fetch.Policy] is set, they are signed too. The middleware
// must be the innermost one, because a signature is valid for some minutes.
//
// A request for a dav or davs URL with a credential fails with the Fault
// Unsupported, because its method is not known here and the driver would send the
// secret key as a password.
func Middleware(o Options) fetch.Middleware {
	if o.Now == nil {
		o.Now = time.Now
	}
	return func(next fetch.Driver) fetch.Driver {
		return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
			switch scheme := req.URL.Scheme(); {
			case req.Auth == nil || req.Auth.User == "":
				return next.Do(ctx, req)
			case scheme == "dav" || scheme == "davs":
				return nil, fetch.Unsupported.Errorf("AWS signature: not supported for %s URLs", scheme)
			case scheme != "http" && scheme != "https":
				return next.Do(ctx, req)
			}
			if httpauth.IsRedirected(ctx) {
				unsigned := req.Clone()
				unsigned.Auth = nil
				return next.Do(ctx, unsigned)
			}
			signed, err := o.sign(req)
			if err != nil {
				return nil, err
			}
			return next.Do(ctx, signed)
		})
	}
}

// sign returns a copy of req with a signature in place of the credential.
func (o Options) sign(req *fetch.Request) (*fetch.Request, error) {
	region, service, err := o.scope(req.URL.Host())
	if err != nil {
		return nil, err
	}
	m, err := messageOf(req)
	if err != nil {
		return nil, err
	}
	if service != "s3" {
		m.Path = awssign.EncodePath(m.Path) // only S3 does not encode the path again
	} else {
		m.Header = m.Header.Without(func(name string) bool { return strings.EqualFold(name, "X-Amz-Content-Sha256") })
		m.Header = append(m.Header, fetch.Field{Name: "X-Amz-Content-Sha256", Value: awssign.EmptyDigest})
	}
	key := awssign.Key{ID: req.Auth.User, Secret: req.Auth.Password, Region: region, Service: service}
	fields := key.Sign(m, o.Now())
	next := req.Clone()
	next.Auth = nil
	next.Header = append(next.Header.Without(func(name string) bool { return fields.Get(name) != "" }), fields...)
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

// messageOf returns the parts of the request that are signed: the method, the
// URL, the host and the fields of AWS.
func messageOf(req *fetch.Request) (m awssign.Message, err error) {
	u := req.URL.WithoutUserinfo().WithoutFragment()
	if strings.Contains(u.Path(), "/.") {
		if u, err = u.Resolve(u); err != nil { // the driver removes dot segments too
			return m, fetch.BadURL.With(err)
		}
	}
	to, err := url.Parse(u.Unredacted())
	if err != nil {
		return m, fetch.BadURL.With(err)
	}
	m = awssign.Message{Method: http.MethodGet, Host: hostField(req, to), Path: awssign.EncodePath(cmp.Or(to.Path, "/"))}
	query := to.Query()
	for _, values := range query {
		slices.Sort(values)
	}
	m.Query = strings.ReplaceAll(query.Encode(), "+", "%20")
	if req.Op == fetch.Stat {
		m.Method = http.MethodHead
	}
	for _, f := range req.Header {
		if name := strings.ToLower(f.Name); strings.HasPrefix(name, "x-amz-") && name != "x-amz-date" {
			m.Header = append(m.Header, f)
		}
	}
	return m, nil
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
