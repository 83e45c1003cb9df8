package wrap

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// menus is a driver that returns listings and counts requests.
type menus struct {
	asked int
	size  int
	reply fetch.Response // Kind is Menu if zero
}

func (m *menus) Do(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
	m.asked++
	resp := m.reply
	if resp.Kind == fetch.Unknown {
		resp.Kind = fetch.Menu
	}
	resp.Media, resp.Size = "text/gopher", -1
	text := fmt.Sprintf("%d of %s\r\n", m.asked, req.URL) + strings.Repeat("x", m.size)
	resp.Body = io.NopCloser(strings.NewReader(text))
	return &resp, nil
}

func readAll(t *testing.T, d fetch.Driver, req *fetch.Request) (*fetch.Response, string) {
	t.Helper()
	resp, err := d.Do(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &menus{}
		d := Cache(CacheOptions{Age: time.Minute})(m)
		var notes, details []string
		heard := &trace.Trace{
			Note:   func(text string) { notes = append(notes, text) },
			Detail: func(text string) { details = append(details, text) },
			Phase:  func(trace.Phase, net.Conn) { t.Error("a connection") },
		}
		asking := func(url string) *fetch.Request {
			req := request(url)
			req.Trace = heard
			return req
		}
		first, text := readAll(t, d, asking("gopher://h/1a#x"))
		time.Sleep(7 * time.Second)
		second, again := readAll(t, d, asking("gopher://h/1a#y"))
		if len(notes) > 0 || !slices.Equal(details, []string{"cached listing, 7s old"}) {
			t.Errorf("noted %q, and as a detail %q", notes, details)
		}
		if m.asked != 1 || again != text || second.Media != first.Media || second.Kind != fetch.Menu || second == first {
			t.Errorf("asked %d times: %q, %q", m.asked, text, again)
		}
		if _, other := readAll(t, d, request("gopher://h/1b")); other == text || m.asked != 2 {
			t.Errorf("another URL: got %q", other)
		}
		time.Sleep(time.Minute + 1)
		if _, later := readAll(t, d, request("gopher://h/1a")); later == text || m.asked != 3 {
			t.Errorf("after a minute: got %q", later)
		}
	})
}

// TestCacheSource checks that a cached listing is not used for a request
// from another source.
func TestCacheSource(t *testing.T) {
	from := func(url, peer string) *fetch.Source {
		s := &fetch.Source{URL: uri.MustParse(url)}
		if peer != "" {
			s.Peer = netip.MustParseAddr(peer)
		}
		return s
	}
	sources := map[string]*fetch.Source{
		"typed":                   nil,
		"a page":                  from("gopher://a/1", "198.41.0.4"),
		"another page there":      from("gopher://a/1/x", "198.41.0.4"),
		"the page, elsewhere":     from("gopher://a/1", "10.0.0.1"),
		"the page, behind a wall": from("gopher://a/1", ""),
		"the same in another way": from("http://a/1", "198.41.0.4"),
	}
	m := &menus{}
	d := Cache(CacheOptions{})(m)
	for round := range 2 {
		for name, source := range sources {
			before := m.asked
			req := request("gopher://10.0.0.1/1")
			req.From = source
			readAll(t, d, req)
			if asked := m.asked - before; asked != 1-round {
				t.Errorf("round %d, %s: asked %d times", round, name, asked)
			}
		}
	}
}

// TestNotCached checks which responses are not cached.
func TestNotCached(t *testing.T) {
	long := time.Now()
	for name, c := range map[string]struct {
		change func(*fetch.Request)
		m      menus
	}{
		"a document":             {m: menus{reply: fetch.Response{Kind: fetch.Document}}},
		"an index":               {m: menus{reply: fetch.Response{Kind: fetch.Index}}},
		"what has headers":       {m: menus{reply: fetch.Response{Header: fetch.Header{{Name: "Cache-Control", Value: "no-store"}}}}},
		"a page that says no":    {m: menus{reply: fetch.Response{Fault: fetch.NotFound}}},
		"a redirect":             {m: menus{reply: fetch.Response{Location: uri.MustParse("gopher://x/")}}},
		"unchanged":              {m: menus{reply: fetch.Response{Unchanged: true}}},
		"perhaps incomplete":     {m: menus{reply: fetch.Response{Doubt: "no byte came"}}},
		"a part":                 {m: menus{reply: fetch.Response{Offset: 5}}},
		"too long":               {m: menus{size: 2000}},
		"a file of this machine": {change: func(r *fetch.Request) { r.URL = uri.MustParse("file://localhost/x") }},
		"with a user":            {change: func(r *fetch.Request) { r.URL = uri.MustParse("ftp://u@h/x/") }},
		"with a credential":      {change: func(r *fetch.Request) { r.Auth = &fetch.Credential{User: "u"} }},
		"no body":                {change: func(r *fetch.Request) { r.Op = fetch.Stat }},
		"a range":                {change: func(r *fetch.Request) { r.Range.First = 1 }},
		"if the same":            {change: func(r *fetch.Request) { r.IfSame = "v" }},
		"if another":             {change: func(r *fetch.Request) { r.IfNot = "v" }},
		"since":                  {change: func(r *fetch.Request) { r.Since = long }},
		"before":                 {change: func(r *fetch.Request) { r.Before = long }},
		"with a header":          {change: func(r *fetch.Request) { r.Header = fetch.Header{{Name: "A", Value: "b"}} }},
		"recorded":               {change: func(r *fetch.Request) { r.Trace = &trace.Trace{Sent: func([]byte) {}} }},
		"recorded, the reply":    {change: func(r *fetch.Request) { r.Trace = &trace.Trace{Received: func([]byte) {}} }},
		"recorded, each attempt": {change: func(r *fetch.Request) { r.Trace = &trace.Trace{Restart: func() {}} }},
	} {
		d := Cache(CacheOptions{Listing: 1000})(&c.m)
		for range 2 {
			req := request("gopher://h/1")
			if c.change != nil {
				c.change(req)
			}
			readAll(t, d, req)
		}
		if c.m.asked != 2 {
			t.Errorf("%s: asked %d times, want 2", name, c.m.asked)
		}
	}
}

// TestCacheIncompleteListing checks that an incomplete listing is not cached.
func TestCacheIncompleteListing(t *testing.T) {
	m := &menus{size: 100}
	d := Cache(CacheOptions{})(m)
	resp, err := d.Do(t.Context(), request("gopher://h/1"))
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 10))
	resp.Body.Close()
	readAll(t, d, request("gopher://h/1"))
	if m.asked != 2 {
		t.Errorf("asked %d times, want 2", m.asked)
	}
	broken := 0
	d = Cache(CacheOptions{})(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		broken++
		r := io.MultiReader(strings.NewReader("half"), &failing{fetch.Truncated})
		return &fetch.Response{Kind: fetch.Menu, Size: -1, Body: io.NopCloser(r)}, nil
	}))
	for range 2 {
		resp, err := d.Do(t.Context(), request("gopher://h/1"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, fetch.Truncated) {
			t.Errorf("got %v", err)
		}
		resp.Body.Close()
	}
	if broken != 2 {
		t.Errorf("asked %d times, want 2", broken)
	}
}

// TestCacheEviction checks that the least recently used listings are evicted.
func TestCacheEviction(t *testing.T) {
	m := &menus{size: 1000}
	c := &cache{CacheOptions: CacheOptions{Listing: 1 << 20, Total: 10 * 2200, Age: time.Hour}, byKey: map[cacheKey]*list.Element{}}
	d := fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) { return c.do(ctx, m, req) })
	for i := range 1000 {
		readAll(t, d, request(fmt.Sprintf("gopher://h/1%d", i)))
		readAll(t, d, request("gopher://h/1-often"))
		if c.size > c.Total || len(c.byKey) != c.lru.Len() || len(c.byKey) > 11 {
			t.Fatalf("%d bytes in %d listings (%d)", c.size, len(c.byKey), c.lru.Len())
		}
	}
	if m.asked != 1001 {
		t.Errorf("asked %d times, want each once", m.asked)
	}
}

// TestCopyingBody checks that a listing of exactly the limit is kept.
func TestCopyingBody(t *testing.T) {
	for limit, want := range map[int]string{2: "", 3: "abc"} {
		b := &copyingBody{ReadCloser: io.NopCloser(strings.NewReader("abc")), limit: limit}
		if got, err := io.ReadAll(b); err != nil || string(got) != "abc" || string(b.text) != want || b.tooLarge != (want == "") {
			t.Errorf("limit %d: %q, %v; kept %q, too large %v", limit, got, err, b.text, b.tooLarge)
		}
	}
}

// TestCachedBody checks the Body of a cached listing.
func TestCachedBody(t *testing.T) {
	m := &menus{}
	d := Cache(CacheOptions{})(m)
	readAll(t, d, request("gopher://h/1"))
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	for name, c := range map[string]struct {
		end  func(io.Closer)
		want error
	}{
		"closed": {func(body io.Closer) { body.Close() }, fetch.Canceled},
		"ctx":    {func(io.Closer) { cancel(gone) }, gone},
	} {
		resp, err := d.Do(ctx, request("gopher://h/1"))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Read(make([]byte, 1))
		c.end(resp.Body)
		if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: got %d, %v, want %v", name, n, err, c.want)
		}
		resp.Body.Close()
		if name == "ctx" {
			ctx = t.Context()
		}
	}
	if m.asked != 1 {
		t.Errorf("asked %d times", m.asked)
	}
}

// TestCacheUnderClient checks that the entries of a cached listing can be read,
// and that each caller gets a Response of its own.
func TestCacheUnderClient(t *testing.T) {
	m := &menus{}
	scheme := fetch.Scheme{
		Name: "gopher", Port: 70,
		Plan: func(*fetch.Request) ([]scheme.Step, error) { return nil, nil },
		Open: func(fetch.Env) fetch.Driver { return m },
		Menu: func(base uri.URI, _ string, r io.Reader) iter.Seq2[fetch.Entry, error] {
			return func(yield func(fetch.Entry, error) bool) {
				b, err := io.ReadAll(r)
				yield(fetch.Entry{Name: string(b), URL: base}, err)
			}
		},
	}
	c := fetch.New(fetch.Options{Wrap: []fetch.Middleware{Cache(CacheOptions{})}}, scheme)
	defer c.Close()
	var names []string
	for range 3 {
		resp, err := c.Get(t.Context(), "gopher://h/1")
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range resp.Entries() {
			if err != nil || e.URL.String() != "gopher://h/1" {
				t.Fatal(e, err)
			}
			names = append(names, e.Name)
		}
	}
	if len(names) != 3 || names[1] != names[0] || names[2] != names[0] || m.asked != 1 {
		t.Errorf("asked %d times: %q", m.asked, names)
	}
}
