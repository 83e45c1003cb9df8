// Package schemetest provides shared helpers for tests of schemes. They send
// requests, format responses and plans as text, and simulate network failures.
// Package fetch/fetchtest tests the contract of a scheme.
package schemetest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// NewClient returns a Client with the policy fetch.Typed. The Client is closed
// when the test ends.
func NewClient(t testing.TB, schemes []fetch.Scheme, changes ...func(*fetch.Options)) *fetch.Client {
	opts := fetch.Options{Policy: fetch.Typed()}
	for _, change := range changes {
		change(&opts)
	}
	c := fetch.New(opts, schemes...)
	t.Cleanup(func() { c.Close() })
	return c
}

// NewRequest returns a request for a URL.
func NewRequest(t testing.TB, url string) *fetch.Request {
	t.Helper()
	u, err := fetch.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return &fetch.Request{URL: u}
}

// Read retrieves a URL. The result body contains the bytes that were read
// before err occurred.
func Read(t testing.TB, c *fetch.Client, url string) (resp *fetch.Response, body string, err error) {
	t.Helper()
	return ReadRequest(t, c, NewRequest(t, url))
}

// ReadRequest is like Read, but sends the given request.
func ReadRequest(t testing.TB, c *fetch.Client, req *fetch.Request) (*fetch.Response, string, error) {
	t.Helper()
	e := Exchange(t.Context(), c, req)
	return e.Response, e.Body, e.Err
}

// List retrieves a URL and returns the entries of its listing.
func List(t testing.TB, c *fetch.Client, url string) (all []fetch.Entry, err error) {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		return nil, err
	}
	for e, err := range resp.Entries() {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// Drain reads the entries of a menu, or the body of another response, until its
// end.
func Drain(resp *fetch.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.Kind == fetch.Menu {
		for _, err = range resp.Entries() {
		}
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// A Result is the outcome of a request.
type Result struct {
	Response *fetch.Response // nil if the request failed
	Body     string          // the bytes that were read before Err
	Err      error           // error of the request or of its body
	Took     time.Duration
	Notes    []string // notes and details of the request; nil if the request has its own Trace
}

// Exchange sends a request and reads the body of its response.
func Exchange(ctx context.Context, c *fetch.Client, req *fetch.Request) Result {
	return exchange(ctx, c, req, "")
}

// exchange is like Exchange, and also sends input to an interactive session.
func exchange(ctx context.Context, c *fetch.Client, req *fetch.Request, input string) (r Result) {
	start := time.Now()
	defer func() { r.Took = time.Since(start) }()
	if req.Trace == nil {
		note := func(text string) { r.Notes = append(r.Notes, text) }
		req = req.Clone()
		req.Trace = &trace.Trace{Note: note, Detail: note}
	}
	r.Response, r.Err = c.Do(ctx, req)
	if r.Err != nil {
		return r
	}
	defer r.Response.Body.Close()
	if r.Response.Input != nil && input != "" {
		io.WriteString(r.Response.Input, input)
	}
	var body []byte
	body, r.Err = io.ReadAll(r.Response.Body)
	r.Body = string(body)
	return r
}

// Fault returns the name of the fetch.Fault of r.Err, or "ok" if r.Err is nil.
func (r Result) Fault() string {
	if r.Err == nil {
		return "ok"
	}
	return fetch.FaultOf(r.Err).String()
}

// Check fails the test unless the result has the given fault and body, and the
// request took at most limit. The test also fails if the text of the error
// contains control characters, such as those from a reply of the server.
func (r Result) Check(t *testing.T, fault, body string, limit time.Duration) {
	t.Helper()
	for _, err := range r.check(fault, body, limit) {
		t.Error(err)
	}
}

func (r Result) check(fault, body string, limit time.Duration) (errs []error) {
	if r.Fault() != fault || r.Body != body || r.Took > limit {
		errs = append(errs, fmt.Errorf("got %s, %q, %v after %v, want %s, %q within %v", r.Fault(), r.Body, r.Err, r.Took, fault, body, limit))
	}
	if r.Err != nil && strings.ContainsAny(r.Err.Error(), "\r\n\t\x1b\x07") {
		errs = append(errs, fmt.Errorf("raw bytes in %q", r.Err))
	}
	return errs
}
