package wrap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// parts is a driver that serves ranges of content, as the http driver does.
// Change, if not nil, can change the n-th response.
type parts struct {
	content   []byte
	validator string
	change    func(n int, req *fetch.Request, resp *fetch.Response)

	mu     sync.Mutex
	asked  []fetch.Range
	open   int
	most   int // maximum number of open bodies
	closed int
}

func (s *parts) Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, req.Range)
	n := len(s.asked)
	s.open++
	s.most = max(s.most, s.open)
	first, end, _ := req.Range.Bounds(int64(len(s.content)))
	if req.IfSame != "" && req.IfSame != s.validator {
		first, end = 0, int64(len(s.content))
	}
	resp := &fetch.Response{Kind: fetch.Document, Code: 206, Size: int64(len(s.content)), Offset: first, Validator: s.validator}
	resp.Body = io.NopCloser(bytes.NewReader(s.content[first:end]))
	if s.change != nil {
		s.change(n, req, resp)
	}
	resp.Body = &observedBody{ReadCloser: &ended{resp.Body, ctx}, onEnd: func(int64, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		s.closed++
	}}
	return resp, nil
}

// ended is a body whose Read fails after the end of ctx.
type ended struct {
	io.ReadCloser
	ctx context.Context
}

func (b *ended) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.ReadCloser.Read(p[:min(len(p), 100_000)])
}

func big() []byte {
	content := make([]byte, 21<<20+17)
	for i := range content {
		content[i] = byte(i>>16 + i)
	}
	return content
}

func TestSegments(t *testing.T) {
	content := big()
	size := int64(len(content))
	changed := func(k int, f func(*fetch.Response)) func(int, *fetch.Request, *fetch.Response) {
		return func(n int, _ *fetch.Request, resp *fetch.Response) {
			if n == k {
				f(resp)
			}
		}
	}
	for _, c := range []struct {
		name     string
		req      fetch.Request
		serve    *parts
		first    int64 // offset of the received bytes
		requests int   // number of requests; 0 means more than one
		fault    fetch.Fault
	}{
		{"whole", fetch.Request{}, &parts{validator: `"v"`}, 0, 6, 0},
		{"from a byte on", fetch.Request{Range: fetch.Range{First: 1234567}}, &parts{validator: `"v"`}, 1234567, 0, 0},
		{"from a byte on, of another version", fetch.Request{Range: fetch.Range{First: 1234567}, IfSame: `"u"`}, &parts{validator: `"v"`}, 0, 2, 0},
		{"no validator", fetch.Request{}, &parts{}, 0, 2, 0},
		{"a range already", fetch.Request{Range: fetch.Range{First: 5, End: 10 << 20}}, &parts{validator: `"v"`}, 5, 1, 0},
		{"recorded", fetch.Request{Trace: &trace.Trace{Received: func([]byte) {}}}, &parts{validator: `"v"`}, 0, 1, 0},
		{"another version midway", fetch.Request{}, &parts{validator: `"v"`, change: changed(4, func(r *fetch.Response) { r.Validator = `"w"` })}, 0, 0, fetch.Mismatch},
		{"another size midway", fetch.Request{}, &parts{validator: `"v"`, change: changed(3, func(r *fetch.Response) { r.Size++ })}, 0, 0, fetch.Mismatch},
		{"another place midway", fetch.Request{}, &parts{validator: `"v"`, change: changed(3, func(r *fetch.Response) { r.Offset++ })}, 0, 0, fetch.Mismatch},
		{"a piece cut", fetch.Request{}, &parts{validator: `"v"`, change: changed(3, func(r *fetch.Response) {
			r.Body = io.NopCloser(io.LimitReader(r.Body, 1000))
		})}, 0, 0, fetch.Truncated},
		{"a piece refused", fetch.Request{}, &parts{validator: `"v"`, change: changed(5, func(r *fetch.Response) { r.Fault = fetch.Denied })}, 0, 0, fetch.Denied},
		{"a page", fetch.Request{}, &parts{validator: `"v"`, change: changed(1, func(r *fetch.Response) { r.Fault = fetch.NotFound })}, 0, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.serve
			s.content = content
			c.req.URL = uri.MustParse("http://h/x")
			resp, err := Segments(4)(s).Do(t.Context(), bound(&c.req))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			want := content[c.first:]
			if c.req.Range.End > 0 {
				want = content[c.first:c.req.Range.End]
			}
			switch {
			case c.fault != 0:
				if !errors.Is(err, c.fault) || !bytes.HasPrefix(content, got) {
					t.Errorf("%d bytes, %v, want %v", len(got), err, c.fault)
				}
			case resp.Fault == nil && (err != nil || !bytes.Equal(got, want) || resp.Offset != c.first || resp.Size != size):
				t.Errorf("%d bytes of %d from %d, %v", len(got), resp.Size, resp.Offset, err)
			}
			if c.requests > 0 && len(s.asked) != c.requests || c.requests == 0 && len(s.asked) < 2 {
				t.Errorf("asked for %v", s.asked)
			}
			if s.open != 0 || s.most > 4 {
				t.Errorf("%d bodies open, %d at a time", s.open, s.most)
			}
		})
	}
}

// TestSegmentsClose checks that the number of segments is limited if the caller
// does not read, and that Close ends all requests.
func TestSegmentsClose(t *testing.T) {
	s := &parts{content: make([]byte, 200<<20), validator: `"v"`}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, end := range []func(io.Closer){func(c io.Closer) { c.Close() }, func(c io.Closer) { cancel(); c.Close() }} {
		resp, err := Segments(4)(s).Do(ctx, request("https://h/x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 10<<20)); err != nil {
			t.Fatal(err)
		}
		end(resp.Body)
		if _, err := io.ReadAll(resp.Body); err == nil {
			t.Error("read after the end")
		}
		if s.open != 0 || len(s.asked) > 20 {
			t.Errorf("%d bodies open, %d asked for", s.open, len(s.asked))
		}
	}
}
