package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/uri"
)

const (
	// Limits of the responses of an S3 server in bytes. Objects are read in
	// ranges of at most store.MaxRange bytes. A page of a list has 1,000 objects at
	// most, whose names have 1,024 bytes each.
	maxList  = 2 << 20
	maxTags  = 100_000  // number of tags in a page of a list, and of attributes
	maxError = 64 << 10 // an error, and each other response

	headTime = 5 * time.Minute  // limit for the response to an upload; the server may have to join the parts first
	keepTime = 30 * time.Second // time after which an unused connection is closed

	// bodyTime limits the time in which a response of at most maxList bytes arrives.
	// A server could otherwise send a byte every few minutes.
	bodyTime = 5 * time.Minute
)

// A transport sends HTTP requests over the connections of a [fetch.Client], so
// that its policy, proxies and TLS settings apply. It follows no redirects.
type transport struct {
	client   *fetch.Client
	bodyTime time.Duration
}

// newTransport returns a transport for a server whose address the user has
// configured. The environment selects the proxy, and AWS_CA_BUNDLE names a file
// with the trusted certificates.
func newTransport(getenv func(string) string) (*transport, error) {
	o := fetch.Options{Policy: fetch.Typed(), Proxy: fetch.ProxyFromEnvironment(getenv)}
	o.Policy.Idle = headTime
	if file := getenv("AWS_CA_BUNDLE"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fetch.Local.Errorf("AWS_CA_BUNDLE: %w", err)
		}
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
		if !o.TLS.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fetch.Usage.Errorf("AWS_CA_BUNDLE: %s contains no certificate in PEM format", file)
		}
	}
	web := func(name string, port uint16) fetch.Scheme {
		return fetch.Scheme{
			Name: name, Port: port, Secure: name == "https", Ports: scheme.Ports{Class: scheme.WebPorts},
			Open: func(env fetch.Env) fetch.Driver { return newExchanger(env) },
		}
	}
	return &transport{fetch.New(o, web("http", 80), web("https", 443)), bodyTime}, nil
}

// exchange is an HTTP request and its response.
type exchange struct {
	req  *http.Request
	resp *http.Response
}

// exchangeKey is the context key under which transport.Do passes an *exchange
// to exchanger.Do.
type exchangeKey struct{}

// Do sends a request through the client. The caller closes the body of the
// response.
func (t *transport) Do(req *http.Request) (*http.Response, error) {
	origin, err := uri.Parse(req.URL.Scheme + "://" + req.URL.Host + "/")
	if err != nil {
		return nil, fetch.BadURL.With(err)
	}
	e := &exchange{req: req}
	ctx, cancel := context.WithCancelCause(context.WithValue(req.Context(), exchangeKey{}, e))
	resp, err := t.client.Do(ctx, &fetch.Request{URL: origin})
	if req.Body != nil && err != nil {
		req.Body.Close()
	}
	if err != nil {
		cancel(nil)
		var wrapped *fetch.Error
		if errors.As(err, &wrapped) { // remove the URL, because the store adds the operation and the object name
			err = wrapped.Err
		}
		return nil, err
	}
	body := &limitedBody{ReadCloser: resp.Body, left: responseLimit(e.resp), ctx: ctx, cancel: cancel}
	if body.left < store.MaxRange {
		body.timer = time.AfterFunc(t.bodyTime, func() { cancel(errSlowBody) })
	}
	e.resp.Body = body
	return e.resp, nil
}

// responseLimit returns the maximum size of the body of a response.
func responseLimit(resp *http.Response) int64 {
	query := resp.Request.URL.Query()
	switch {
	case resp.Request.Method != http.MethodGet || resp.StatusCode >= 300:
		return maxError
	case query.Has("list-type"), query.Has("uploads"):
		return maxList
	}
	return store.MaxRange
}

// A limitedBody is the body of a response. A read beyond the limit is an error,
// so that a long response is not mistaken for a short one.
type limitedBody struct {
	io.ReadCloser
	left   int64           // number of bytes that may still be read
	ctx    context.Context // of the exchange
	cancel context.CancelCauseFunc
	timer  *time.Timer // ends the exchange; nil without a time limit
}

// Close closes the body and releases the context of the exchange.
func (b *limitedBody) Close() error {
	err := b.ReadCloser.Close()
	if b.timer != nil {
		b.timer.Stop()
	}
	b.cancel(nil)
	return err
}

var errSlowBody = fetch.Timeout.Errorf("the response of the server takes too long")

var errNoList = fetch.Protocol.Errorf("the response is not a list of objects in the XML format of S3: check the endpoint")

var errLongBody = fetch.Protocol.Errorf("the response of the server is too long")

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left+1)])
	if err != nil && err != io.EOF && context.Cause(b.ctx) == errSlowBody {
		err = errSlowBody
	}
	if b.left -= int64(n); b.left < 0 {
		return n - 1, errLongBody
	}
	return n, err
}

// An exchanger is the fetch.Driver with which the client of a transport sends
// HTTP requests.
type exchanger struct{ pool *http.Transport }

func newExchanger(env fetch.Env) *exchanger {
	x := &exchanger{}
	x.pool = &http.Transport{
		DialContext: env.Net.DialContext,
		DialTLSContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := env.Net.DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			host, _, err := net.SplitHostPort(addr)
			if err != nil {
				return nil, errors.Join(err, conn.Close())
			}
			return fetch.Handshake(ctx, conn, env.TLS, host, nil)
		},
		DisableCompression:     true,
		ResponseHeaderTimeout:  headTime,
		ExpectContinueTimeout:  time.Second,
		IdleConnTimeout:        keepTime,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return x
}

// Do sends the HTTP request of the exchange in ctx. The parameter req contains
// only the address of the server.
func (x *exchanger) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	e, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, fetch.Internal.Errorf("store: no HTTP request")
	}
	resp, err := x.pool.RoundTrip(e.req.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	e.resp = resp
	return &fetch.Response{URL: req.URL, Size: -1, Body: resp.Body}, nil
}
