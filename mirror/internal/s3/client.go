package s3

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awsfiles"
	"github.com/anyurl/fetch/internal/format/awssign"
)

const (
	attempts   = 3 // maximum number of times that a request is sent
	firstPause = 2 * time.Second

	continueSize = 2 << 20 // minimum size of a body for which the client waits until the server accepts the request
)

// A client sends the requests for one bucket to an S3 server.
type client struct {
	transport *transport
	server    url.URL // scheme and host
	path      string  // "", or a slash and the name of the bucket
	region    string
	getenv    func(string) string
	pause     time.Duration // maximum pause before the second attempt; each further pause may be twice as long
	skew      atomic.Int64  // time of the server minus time of this machine, in nanoseconds
}

// newClient returns a client for a bucket. The endpoint is the address of the
// server, or "" for AWS.
func newClient(t *transport, endpoint, region, bucket string, getenv func(string) string) (*client, error) {
	if strings.Trim(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
		return nil, fetch.Usage.Errorf("invalid region %q", region)
	}
	c := &client{transport: t, path: "/" + bucket, region: region, getenv: getenv, pause: firstPause}
	if endpoint == "" {
		endpoint = "https://s3." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			endpoint += ".cn"
		}
		if !strings.ContainsAny(bucket, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ") { // the certificate covers only one label
			endpoint, c.path = strings.Replace(endpoint, "://", "://"+bucket+".", 1), ""
		}
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fetch.Usage.With(err)
	}
	c.server = url.URL{Scheme: u.Scheme, Host: u.Host}
	return c, nil
}

// A call is a request to an S3 server.
type call struct {
	method string
	key    string // of the object, or "" for the bucket
	query  url.Values
	header fetch.Header
	body   *io.SectionReader // nil for an empty body
	digest string            // SHA-256 digest of the body in base 16, or "" for an empty body
	once   bool              // do not repeat the request
}

// do sends a request and calls read with the response, which closes the body. It
// repeats both after a transient failure. If the status of the response is no
// success, the error is an *answerError.
func (c *client) do(ctx context.Context, r call, read func(*http.Response) error) error {
	for n := 0; ; n++ {
		resp, err := c.send(ctx, r)
		if err == nil {
			err = read(resp)
		}
		if err == nil || !c.repeats(err) || r.once || n == attempts-1 {
			return err
		}
		timer := time.NewTimer(rand.N(c.pause << n))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// send sends a request once.
func (c *client) send(ctx context.Context, r call) (*http.Response, error) {
	req, err := c.request(ctx, r)
	if err != nil {
		return nil, err
	}
	resp, err := c.transport.Do(req)
	if err != nil && fetch.FaultOf(err) == fetch.Internal {
		err = fetch.Protocol.With(&headError{err})
	}
	if err == nil && resp.StatusCode >= 300 {
		err = readError(resp)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// A headError means that the head of a response is malformed or too long. The
// connection may have failed within the head.
type headError struct{ error }

// request returns the signed request. It reads the access key each time, because
// other programs replace temporary keys in the file before they expire.
func (c *client) request(ctx context.Context, r call) (*http.Request, error) {
	key, err := awsfiles.ReadKey(c.getenv)
	if err != nil {
		return nil, err
	}
	u := c.server
	u.Path = c.path + "/" + r.key
	if r.key == "" && c.path != "" {
		u.Path = c.path
	}
	u.RawPath = awssign.EncodePath(u.Path)
	u.RawQuery = strings.ReplaceAll(r.query.Encode(), "+", "%20")
	digest := r.digest
	if digest == "" {
		digest = awssign.EmptyDigest
	}
	m := awssign.Message{Method: r.method, Host: u.Host, Path: u.RawPath, Query: u.RawQuery, Digest: digest,
		Header: append(fetch.Header{{Name: "X-Amz-Content-Sha256", Value: digest}}, r.header...)}
	signer := awssign.Key{ID: key.ID, Secret: key.Secret, Token: key.Token, Region: c.region, Service: "s3"}
	req := (&http.Request{Method: r.method, URL: &u, Host: u.Host, Header: http.Header{"User-Agent": {"fetch"}}}).WithContext(ctx)
	for _, f := range signer.Sign(m, time.Now().Add(time.Duration(c.skew.Load()))) {
		req.Header.Set(f.Name, f.Value)
	}
	if r.body != nil && r.body.Size() > 0 {
		// The transport may still read the body of an earlier attempt.
		req.Body, req.ContentLength = io.NopCloser(io.NewSectionReader(r.body, 0, r.body.Size())), r.body.Size()
		if req.ContentLength > continueSize {
			req.Header.Set("Expect", "100-continue")
		}
	}
	return req, nil
}

// repeats reports whether a request that failed with err is sent again. If the
// clock of this machine is wrong, repeats adopts the time of the server.
func (c *client) repeats(err error) bool {
	answer, ok := asAnswer(err)
	if ok && answer.code == "RequestTimeTooSkewed" {
		if now, err := http.ParseTime(answer.header.Get("Date")); err == nil {
			c.skew.Store(int64(time.Until(now)))
			return true
		}
	}
	if !ok {
		var head *headError
		return err != errSlowBody && (fetch.Retryable(err) || errors.As(err, &head))
	}
	return fetch.FaultOf(classify(err)) == fetch.TryLater && answer.status != http.StatusNotFound // NoSuchUpload
}

// document sends a request and decodes the response, a document with the given
// root element.
func (c *client) document(ctx context.Context, r call, root string, into any) error {
	return c.do(ctx, r, func(resp *http.Response) error { return readDocument(resp, root, into) })
}

// empty sends a request whose response has no content, and returns the fields of
// the response.
func (c *client) empty(ctx context.Context, r call) (fields http.Header, err error) {
	err = c.do(ctx, r, func(resp *http.Response) error {
		fields = resp.Header
		_, err := readBody(resp) // so that the connection can be used again
		return err
	})
	return fields, err
}

// content returns a body and its digest for a call.
func content(r io.ReaderAt, off, size int64, sum [32]byte) (*io.SectionReader, string) {
	return io.NewSectionReader(r, off, size), hex.EncodeToString(sum[:])
}
