// Package fetchtest tests whether a scheme fulfills the contract of package
// fetch. The tests of a scheme start a server with a few known objects and call
// [Run]. Tests of the http and https schemes also call [RunPolicy].
package fetchtest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// A Suite describes a scheme and the objects on its test server. If a field is
// empty, [Run] skips the tests that need it.
type Suite struct {
	Schemes func() []fetch.Scheme // returns new schemes for each Client
	Options fetch.Options         // Options of the Client; the Policy is always Typed

	Document string   // URL of a document
	Body     []byte   // content of Document; if it has more than 64 KiB, more cases are tested
	Missing  string   // URL of an object that does not exist
	Menu     string   // URL of a listing
	Names    []string // some of the entries of Menu
	Rejected []string // URLs that must be rejected before any connection

	NoRanges bool // the protocol has no ranges, so that the driver ignores Request.Range
	Local    bool // the scheme has no network

	// Configured means that the options of the scheme name its server, to which
	// all documents of the scheme may therefore lead.
	Configured bool
}

// Run runs the tests of a suite. A test is skipped if its fields in s are empty.
// Only Schemes, Document and Body are required. The plan is tested only if the
// scheme of Document has the function Plan.
func Run(t *testing.T, s Suite) {
	if missing := s.missingField(); missing != "" {
		t.Fatalf("the field %s of the fetchtest.Suite is required", missing)
	}
	t.Run("document", s.document)
	t.Run("concurrent", s.concurrent)
	t.Run("canceled", s.canceled)
	t.Run("closed early", s.closedEarly)
	for name, test := range map[string]struct {
		has bool
		run func(*testing.T)
	}{
		"plan":     {s.hasPlan(t), s.plan},
		"range":    {!s.NoRanges, s.ranges},
		"missing":  {s.Missing != "", s.missing},
		"menu":     {s.Menu != "", s.menu},
		"rejected": {len(s.Rejected) > 0, s.rejected},
		"policy":   {!s.Local, s.policy},
		"trace":    {!s.Local, s.trace},
	} {
		if test.has {
			t.Run(name, test.run)
		}
	}
}

// missingField returns the name of a required field that is empty, or "".
func (s Suite) missingField() string {
	switch {
	case s.Schemes == nil:
		return "Schemes"
	case s.Document == "":
		return "Document"
	case len(s.Body) == 0:
		return "Body"
	}
	return ""
}

// hasPlan reports whether the scheme of Document supports plans.
func (s Suite) hasPlan(t *testing.T) bool {
	return s.client(t).Scheme(parse(t, s.Document).Scheme()).Plan != nil
}

func (s Suite) client(t *testing.T, change ...func(*fetch.Options)) *fetch.Client {
	opts := s.Options
	opts.Policy = fetch.Typed()
	for _, f := range change {
		f(&opts)
	}
	c := fetch.New(opts, s.Schemes()...)
	t.Cleanup(func() { c.Close() })
	return c
}

func parse(t *testing.T, text string) uri.URI {
	t.Helper()
	u, err := fetch.ParseURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (s Suite) get(t *testing.T, c *fetch.Client, req *fetch.Request) (*fetch.Response, []byte) {
	t.Helper()
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatalf("%s: %v", req.URL, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: reading: %v", req.URL, err)
	}
	return resp, body
}

func (s Suite) document(t *testing.T) {
	c := s.client(t)
	req := &fetch.Request{URL: parse(t, s.Document)}
	before := *req.Clone()
	resp, err := c.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body == nil {
		t.Fatal("Body is nil")
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || !bytes.Equal(body, s.Body) {
		t.Fatalf("got %d bytes, %v, want %d", len(body), err, len(s.Body))
	}
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("read after the end: got %d bytes, %v", n, err)
	}
	if err := errors.Join(resp.Body.Close(), resp.Body.Close()); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if resp.Size != -1 && resp.Size != int64(len(s.Body)) {
		t.Errorf("Size %d, want %d or -1", resp.Size, len(s.Body))
	}
	if resp.Kind != fetch.Document || resp.URL.IsZero() || !s.Local && !resp.Peer.IsValid() {
		t.Errorf("kind %v, URL %v, peer %v", resp.Kind, resp.URL, resp.Peer)
	}
	if !reflect.DeepEqual(before, *req) {
		t.Error("the Request was changed")
	}
	resp, err = c.Do(t.Context(), &fetch.Request{URL: req.URL, Op: fetch.Stat})
	if err != nil {
		t.Fatalf("stat: %v", err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); len(b) > 0 || err != nil {
		t.Errorf("body of a Stat: got %d bytes, %v", len(b), err)
	}
}

func (s Suite) concurrent(t *testing.T) {
	c := s.client(t)
	u := parse(t, s.Document)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(body, s.Body) {
				t.Errorf("got %d bytes, %v", len(body), err)
			}
		})
	}
	all.Wait()
}

func (s Suite) canceled(t *testing.T) {
	c := s.client(t)
	u := parse(t, s.Document)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(ended, &fetch.Request{URL: u}); !errors.Is(err, fetch.Canceled) {
		t.Errorf("with a ctx that has ended: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	resp, err := c.Do(ctx, &fetch.Request{URL: u})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	cancel()
	// After the context is canceled, Read may still return buffered data or the
	// end of the body.
	if n, err := io.Copy(io.Discard, resp.Body); err == nil && n != int64(len(s.Body)) || err != nil && !errors.Is(err, fetch.Canceled) {
		t.Errorf("after cancel: read %d bytes, %v", n, err)
	}
	s.get(t, c, &fetch.Request{URL: u}) // the next request must succeed
}

func (s Suite) closedEarly(t *testing.T) {
	c := s.client(t)
	u := parse(t, s.Document)
	for range 3 {
		resp, err := c.Do(t.Context(), &fetch.Request{URL: u})
		if err != nil {
			t.Fatal(err)
		}
		io.ReadFull(resp.Body, make([]byte, 1))
		resp.Body.Close()
		if n, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Errorf("read %d bytes after Close", n)
		}
	}
	if _, body := s.get(t, c, &fetch.Request{URL: u}); !bytes.Equal(body, s.Body) {
		t.Errorf("after early closes: got %d bytes", len(body))
	}
}

func (s Suite) ranges(t *testing.T) {
	c := s.client(t)
	u := parse(t, s.Document)
	size := int64(len(s.Body))
	for _, r := range []fetch.Range{{First: 0, End: 1}, {First: 1, End: size - 1}, {First: size / 2}, {First: -3}} {
		first, end, ok := r.Bounds(size)
		if !ok {
			t.Fatalf("body too short for %v", r)
		}
		resp, body := s.get(t, c, &fetch.Request{URL: u, Range: r})
		if resp.Offset != first || !bytes.Equal(body, s.Body[first:end]) {
			t.Errorf("%v: got %d bytes from %d, want [%d, %d)", r, len(body), resp.Offset, first, end)
		}
	}
	whole, _ := s.get(t, c, &fetch.Request{URL: u})
	if whole.Validator == "" {
		return
	}
	same, rest := s.get(t, c, &fetch.Request{URL: u, Range: fetch.Range{First: 5}, IfSame: whole.Validator})
	if same.Offset != 5 || !bytes.Equal(rest, s.Body[5:]) {
		t.Errorf("resume: got %d bytes from %d", len(rest), same.Offset)
	}
}

func (s Suite) missing(t *testing.T) {
	c := s.client(t)
	resp, err := c.Do(t.Context(), &fetch.Request{URL: parse(t, s.Missing)})
	if err == nil {
		_, err = io.ReadAll(resp.Body)
		resp.Body.Close()
	}
	var e *fetch.Error
	if !errors.Is(err, fetch.NotFound) || !errors.As(err, &e) || e.URL == "" || e.Op == "" {
		t.Errorf("got %v, want NotFound with operation and URL", err)
	}
}

func (s Suite) menu(t *testing.T) {
	c := s.client(t)
	resp, err := c.Do(t.Context(), &fetch.Request{URL: parse(t, s.Menu)})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Kind != fetch.Menu {
		t.Errorf("kind %v", resp.Kind)
	}
	var names []string
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != fetch.Info && e.URL.Scheme() == "" {
			t.Errorf("entry %q: URL %v is not absolute", e.Name, e.URL)
		}
		names = append(names, e.Name)
	}
	for _, want := range s.Names {
		if !slices.Contains(names, want) {
			t.Errorf("no entry %q among %q", want, names)
		}
	}
	if n, err := resp.Body.Read(make([]byte, 1)); err == nil {
		t.Errorf("Entries left Body open: read %d", n)
	}
}

// plan tests that Scheme.Plan returns equal results for equal requests and
// opens no connection.
func (s Suite) plan(t *testing.T) {
	c := s.client(t, noDial(t))
	req := &fetch.Request{URL: parse(t, s.Document)}
	one, err := c.Plan(req)
	two, err2 := c.Plan(req)
	if err != nil || err2 != nil || len(one) == 0 || !reflect.DeepEqual(one, two) {
		t.Errorf("got %v, %v and %v, %v", one, err, two, err2)
	}
}

func (s Suite) rejected(t *testing.T) {
	c := s.client(t, noDial(t))
	for _, text := range s.Rejected {
		resp, err := c.Get(t.Context(), text)
		if err == nil {
			resp.Body.Close()
			t.Errorf("%s: was not rejected", text)
		}
		switch fetch.FaultOf(err) {
		case fetch.Internal, fetch.Connect, fetch.Timeout, fetch.DNS:
			t.Errorf("%s: got %v, want a refusal", text, err)
		}
	}
}

// policy tests that a driver cannot open a connection without a grant of the
// Policy. It also tests that pooled connections do not bypass the Policy.
func (s Suite) policy(t *testing.T) {
	var driver fetch.Driver
	spied := s
	spied.Schemes = func() []fetch.Scheme {
		all := s.Schemes()
		for i := range all {
			open := all[i].Open
			all[i].Open = func(env fetch.Env) fetch.Driver { driver = open(env); return driver }
		}
		return all
	}
	c := spied.client(t)
	u := parse(t, s.Document)
	s.get(t, c, &fetch.Request{URL: u})
	if resp, err := driver.Do(t.Context(), &fetch.Request{URL: u}); !errors.Is(err, fetch.BadAddress) {
		t.Errorf("driver called without a grant: got %v, %v", resp, err)
	}
	if s.Configured {
		return
	}
	from := &fetch.Source{URL: u, Peer: netip.MustParseAddr("8.8.8.8")}
	resp, err := c.Do(t.Context(), &fetch.Request{URL: u, From: from})
	if err == nil {
		resp.Body.Close()
	}
	switch fetch.FaultOf(err) {
	case fetch.BadAddress, fetch.BadPort, fetch.BadReferral:
	default:
		t.Errorf("redirect from a public page to a pooled connection on loopback: got %v, want BadAddress", err)
	}
}

// trace tests that a Trace receives the bytes of both directions, without the
// password.
func (s Suite) trace(t *testing.T) {
	var sent, got bytes.Buffer
	req := &fetch.Request{URL: parse(t, s.Document), Trace: &trace.Trace{
		Sent:     func(p []byte) { sent.Write(p) },
		Received: func(p []byte) { got.Write(p) },
		Restart:  func() { sent.Reset(); got.Reset() },
	}}
	_, body := s.get(t, s.client(t), req)
	if !bytes.Equal(body, s.Body) {
		t.Errorf("traced: got %d bytes, want %d", len(body), len(s.Body))
	}
	if sent.Len() == 0 || got.Len() == 0 {
		t.Errorf("traced %d bytes sent and %d received", sent.Len(), got.Len())
	}
	if _, password, ok := req.URL.User(); ok && strings.Contains(sent.String(), password) {
		t.Error("the Trace received the password")
	}
}

// noDial returns an option that makes the test fail if a connection is opened.
func noDial(t *testing.T) func(*fetch.Options) {
	return func(o *fetch.Options) {
		o.Dial = func(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
			t.Errorf("dialled %s", to)
			return nil, io.ErrClosedPipe
		}
		o.Resolver = noResolver{t, new(atomic.Int32)}
	}
}

type noResolver struct {
	t *testing.T
	n *atomic.Int32
}

func (r noResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if r.n.Add(1) > 0 {
		r.t.Errorf("resolved %s", host)
	}
	return nil, io.ErrClosedPipe
}
