package wrap

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/base/robots"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

// sites is a driver that returns scripted responses and records the requests.
type sites struct {
	script map[string]func() (*fetch.Response, error) // other URLs are not found
	mu     sync.Mutex
	asked  []*fetch.Request
}

func (s *sites) Do(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
	s.mu.Lock()
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	if answer, ok := s.script[req.URL.Unredacted()]; ok {
		return answer()
	}
	return status(404, fetch.NotFound)()
}

// urls returns the requested URLs in order.
func (s *sites) urls() (all []string) {
	for _, req := range s.asked {
		all = append(all, req.URL.Unredacted())
	}
	return all
}

type script = map[string]func() (*fetch.Response, error)

func text(s string) func() (*fetch.Response, error) {
	return func() (*fetch.Response, error) {
		time.Sleep(time.Second) // simulates the network
		return &fetch.Response{Code: 200, Body: io.NopCloser(strings.NewReader(s))}, nil
	}
}

func status(code int, fault error) func() (*fetch.Response, error) {
	return func() (*fetch.Response, error) {
		return &fetch.Response{Code: code, Fault: fault, Body: io.NopCloser(strings.NewReader("User-agent: *\nDisallow: /"))}, nil
	}
}

func fails(err error) func() (*fetch.Response, error) {
	return func() (*fetch.Response, error) { return nil, err }
}

func leads(to string) func() (*fetch.Response, error) {
	return func() (*fetch.Response, error) {
		return &fetch.Response{Code: 301, Location: uri.MustParse(to), Peer: netip.MustParseAddr("192.0.2.7"), Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

const closed = "User-agent: *\nDisallow: /no\nCrawl-delay: 5\n"

// TestRobots checks the effect of each response to the request for robots.txt.
func TestRobots(t *testing.T) {
	cut := func() (*fetch.Response, error) {
		return &fetch.Response{Code: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(closed), &failing{fetch.Truncated}))}, nil
	}
	refused := &fetch.Error{Code: 403, Err: fetch.Connect.With(&proxy.RefusedError{Proto: "http", Code: 403})}
	busyFor := &fetch.Error{RetryAfter: 30 * time.Second, Err: fetch.TryLater}
	for _, c := range []struct {
		name, url string
		script    script
		want      error
		delay     time.Duration
	}{
		{"allowed", "http://h/yes", script{"http://h/robots.txt": text(closed)}, nil, 5 * time.Second},
		{"disallowed", "http://h/no?x", script{"http://h/robots.txt": text(closed)}, fetch.Denied, 0},
		{"of its own port", "http://h:8080/no", script{"http://h/robots.txt": text(closed)}, nil, 0},
		{"query", "https://h/a?b=1", script{"https://h/robots.txt": text("User-agent: *\nDisallow: /*?b=")}, fetch.Denied, 0},
		{"for others", "http://h/no", script{"http://h/robots.txt": text("User-agent: fe\nDisallow: /")}, nil, 0},
		{"the file itself", "http://h/robots.txt", script{"http://h/robots.txt": text("User-agent: fetch\nDisallow: /")}, nil, 0},
		{"slow", "http://h/", script{"http://h/robots.txt": text("User-agent: *\nCrawl-delay: 1e9")}, nil, time.Minute},
		{"none", "http://h/no", nil, nil, 0},
		{"401", "http://h/no", script{"http://h/robots.txt": status(401, fetch.Auth)}, nil, 0},
		{"403", "http://h/no", script{"http://h/robots.txt": status(403, fetch.Denied)}, nil, 0},
		{"410 as error", "http://h/no", script{"http://h/robots.txt": fails(&fetch.Error{Code: 410, Err: fetch.NotFound})}, nil, 0},
		{"407 of a proxy", "http://h/yes", script{"http://h/robots.txt": status(407, fetch.Auth)}, fetch.Auth, 0},
		{"login of a proxy", "https://h/yes", script{"https://h/robots.txt": fails(fetch.Auth.With(&proxy.AuthRequiredError{}))}, fetch.Auth, 0},
		{"refused by a proxy", "https://h/yes", script{"https://h/robots.txt": fails(refused)}, fetch.Connect, 0},
		{"429", "http://h/yes", script{"http://h/robots.txt": status(429, busyFor)}, fetch.TryLater, 0},
		{"500", "http://h/yes", script{"http://h/robots.txt": status(500, fetch.TryLater)}, fetch.TryLater, 0},
		{"unreachable", "http://h/yes", script{"http://h/robots.txt": fails(fetch.Connect)}, fetch.Connect, 0},
		{"cut", "http://h/yes", script{"http://h/robots.txt": cut}, fetch.Truncated, 0},
		{"refused by the policy", "http://h/yes", script{"http://h/robots.txt": fails(fetch.BadAddress)}, fetch.BadAddress, 0},
		{"moved", "http://h/no", script{"http://h/robots.txt": leads("https://h2/r"), "https://h2/r": text(closed)}, fetch.Denied, 0},
		{"moved to where nobody may go", "http://h/no", script{"http://h/robots.txt": leads("http://h2/r"), "http://h2/r": fails(fetch.BadAddress)}, nil, 0},
		{"moved out of the Web", "http://h/no", script{"http://h/robots.txt": leads("gopher://h/0/r"), "gopher://h/0/r": text(closed)}, nil, 0},
		{"moved for ever", "http://h/no", script{"http://h/robots.txt": leads("http://h/robots.txt")}, nil, 0},
		{"gopher", "gopher://h/1/no/x", script{"gopher://h/0/robots.txt": text(closed)}, fetch.Denied, 0},
		{"gopher, selector without a slash", "gopher://h/9no", script{"gopher://h/0/robots.txt": text(closed)}, fetch.Denied, 0},
		{"gopher, the type is no part", "gopher://h/n/o", script{"gopher://h/0/robots.txt": text(closed)}, nil, 5 * time.Second},
		{"gopher, words of a search", "gopher://h/7/find%09no", script{"gopher://h/0/robots.txt": text("User-agent: *\nDisallow: /find$")}, fetch.Denied, 0},
		{"gopher, words of an old search", "gopher://h/7/find?no", script{"gopher://h/0/robots.txt": text("User-agent: *\nDisallow: /find$")}, fetch.Denied, 0},
		{"gopher, a selector with a question mark", "gopher://h/0/find?no", script{"gopher://h/0/robots.txt": text("User-agent: *\nDisallow: /find?no")}, fetch.Denied, 0},
		{"gopher, a selector with a percent sign", "gopher://h/0/50%25off", script{"gopher://h/0/robots.txt": text("User-agent: *\nDisallow: /50%25off")}, fetch.Denied, 0},
		{"gopher, other paths", "gopher://h/1:no:x", script{"gopher://h/0/robots.txt": text(closed), "gopher://h/0/caps.txt": text("CAPS\nPathDelimeter=:\n")}, fetch.Denied, 0},
		{"gopher, an item that is a URL", "gopher://h/hURL:http://x/no", script{"gopher://h/0/robots.txt": text("User-agent: *\nDisallow: /")}, nil, 0},
		{"gopher, none", "gopher://h/1/no", script{"gopher://h/0/robots.txt": fails(fetch.NotFound)}, nil, 0},
		{"gophers", "gophers://h/1/no", script{"gophers://h/0/robots.txt": text(closed)}, fetch.Denied, 0},
		{"another scheme", "ftp://h/no", script{"ftp://h/robots.txt": text(closed)}, nil, 0},
		{"no host", "file:///no", nil, nil, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			delay, err := Robots("fetch/1.0")(&sites{script: c.script})(t.Context(), request(c.url))
			if c.want == nil && err != nil || !errors.Is(err, c.want) || delay != c.delay {
				t.Errorf("%s: got %v, %v, want %v, %v", c.name, delay, err, c.delay, c.want)
			}
			if c.want == fetch.Denied && (err == nil || err.Error() != "robots.txt of h disallows the URL") {
				t.Errorf("%s: error %q", c.name, err)
			}
		})
	}
}

// TestRobotsRequest checks that the request for robots.txt has the permissions
// of the original request and no other fields. A redirect drops the
// credentials.
func TestRobotsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sites{script: script{"http://h:81/robots.txt": leads("http://u:p@h2/r")}}
		req := request("http://me:secret@h:81/x?y#z")
		req.From = &fetch.Source{URL: uri.MustParse("http://page/"), Peer: netip.MustParseAddr("192.0.2.1")}
		req.Auth = &fetch.Credential{User: "me"}
		req.Header = fetch.Header{{Name: "user-agent", Value: "fetch"}, {Name: "Cookie", Value: "c"}, {Name: "If-Range", Value: "e"}}
		req.Op, req.Range, req.IfNot, req.Trace = fetch.Stat, fetch.Range{First: 5}, "v", &trace.Trace{}
		if _, err := Robots("fetch")(s)(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got := s.urls(); !slices.Equal(got, []string{"http://h:81/robots.txt", "http://h2/r"}) {
			t.Fatalf("asked for %v", got)
		}
		first, second := s.asked[0], s.asked[1]
		if first.From != req.From || first.Auth != req.Auth || len(first.Header) != 1 || first.Op != fetch.Get ||
			!first.Range.IsZero() || first.IfNot != "" || first.Trace != nil {
			t.Errorf("asked with %+v", first)
		}
		if second.Auth != nil || second.From.URL != first.URL || second.From.Peer != netip.MustParseAddr("192.0.2.7") {
			t.Errorf("led on with %+v", second)
		}
	})
}

// TestRobotsOnce checks that concurrent requests cause one request for
// robots.txt, that the file expires, and that typed and other URLs
// share one request.
func TestRobotsOnce(t *testing.T) {
	for _, c := range []struct {
		url    string
		script script
		age    time.Duration
		per    int // requests per download of the files
	}{
		{"http://h/x", script{"http://h/robots.txt": text(closed)}, 24 * time.Hour, 1},
		{"http://h/x", nil, 24 * time.Hour, 1},
		{"http://h/x", script{"http://h/robots.txt": fails(fetch.Connect)}, 10 * time.Second, 1},
		{"http://h/x", script{"http://h/robots.txt": fails(&fetch.Error{RetryAfter: time.Hour, Err: fetch.TryLater})}, 10 * time.Minute, 1},
		{"gopher://h/1x", nil, 24 * time.Hour, 1},
		{"gopher://h/1x", script{"gopher://h/0/robots.txt": text(closed)}, 24 * time.Hour, 2},
		{"gopher://h/1x", script{"gopher://h/0/robots.txt": text(closed), "gopher://h/0/caps.txt": text("CAPS\nExpireCapsAfter=1800\n")}, 30 * time.Minute, 2},
		{"gopher://h/1x", script{"gopher://h/0/robots.txt": text(closed), "gopher://h/0/caps.txt": text("CAPS\nExpireCapsAfter=1\n")}, time.Minute, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &sites{script: c.script}
			rule := Robots("fetch")(s)
			for round := range 2 {
				var all sync.WaitGroup
				for range 20 {
					all.Go(func() { rule(t.Context(), request(c.url)) })
				}
				all.Wait()
				if got, want := len(s.asked), c.per*(round+1); got != want {
					t.Errorf("%s, age %v: %d requests, want %d", c.url, c.age, got, want)
				}
				time.Sleep(c.age - 4*time.Second)
				rule(t.Context(), request(c.url)) // uses the cached rules
				time.Sleep(4 * time.Second)
			}
			led := request(c.url)
			led.From = &fetch.Source{URL: uri.MustParse("http://page/")}
			before := len(s.asked)
			rule(t.Context(), request(c.url))
			rule(t.Context(), led)
			if got := len(s.asked) - before; got != c.per {
				t.Errorf("%s: %d requests for a typed URL and a link, want %d", c.url, got, c.per)
			}
		})
	}
}

// TestRobotsDenied checks that a Policy that denies robots.txt to a link does
// not affect the rules for typed URLs of the same origin.
func TestRobotsDenied(t *testing.T) {
	n := 0
	rule := Robots("fetch")(fetch.DriverFunc(func(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
		n++
		if !req.Typed() {
			return nil, fetch.BadAddress
		}
		return &fetch.Response{Code: 200, Body: io.NopCloser(strings.NewReader(closed))}, nil
	}))
	link := request("http://h/no")
	link.From = &fetch.Source{URL: uri.MustParse("http://page/")}
	for i, c := range []struct {
		req      *fetch.Request
		want     error
		requests int
	}{
		{link, fetch.BadAddress, 1},
		{link, fetch.BadAddress, 2}, // the error is not cached
		{request("http://h/no"), fetch.Denied, 3},
		{link, fetch.Denied, 3}, // the rules are shared
	} {
		if _, err := rule(t.Context(), c.req); !errors.Is(err, c.want) || n != c.requests {
			t.Errorf("request %d: got %v after %d requests, want %v after %d", i+1, err, n, c.want, c.requests)
		}
	}
}

// TestRobotsCancel cancels the request that reads robots.txt. The requests that
// wait for it must continue.
func TestRobotsCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		slow := fetch.DriverFunc(func(ctx context.Context, _ *fetch.Request) (*fetch.Response, error) {
			n++
			select {
			case <-time.After(time.Minute):
				return text(closed)()
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		rule := Robots("fetch")(slow)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				mine, want := t.Context(), error(fetch.Denied)
				if i < 3 {
					mine, want = ctx, context.DeadlineExceeded
				}
				if i > 0 {
					time.Sleep(time.Millisecond)
				}
				if _, err := rule(mine, request("http://h/no")); !errors.Is(err, want) {
					t.Errorf("%d: got %v, want %v", i, err, want)
				}
			})
		}
		all.Wait()
		if n != 2 {
			t.Errorf("asked %d times", n)
		}
	})
}

// TestRobotsPolite checks that the request for robots.txt is delayed, frees its
// slot, and is retried.
func TestRobotsPolite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := 1
		s := &sites{script: script{"http://h/": text("x"), "http://h/robots.txt": func() (*fetch.Response, error) {
			if down--; down >= 0 {
				return status(503, fetch.TryLater)()
			}
			return text(closed)()
		}}}
		d := Retry(RetryOptions{})(Polite(PoliteOptions{PerHost: 1, Rule: Robots("fetch")})(s))
		began := time.Now()
		for range 2 {
			resp, err := d.Do(t.Context(), request("http://h/"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		if got := s.urls(); !slices.Equal(got, []string{"http://h/robots.txt", "http://h/robots.txt", "http://h/", "http://h/"}) {
			t.Errorf("asked for %v", got)
		}
		if took := time.Since(began); took < 15*time.Second || took > 20*time.Second { // 10 s for the failure, 5 s between the requests
			t.Errorf("took %v", took)
		}
	})
}

// TestRobotsSize checks that only stored rules count.
func TestRobotsSize(t *testing.T) {
	r := &robot{sites: map[fetch.Origin]*site{}}
	s, _ := r.claim(fetch.Origin{})
	var err error
	if s.file, err = robots.Parse(strings.NewReader("User-agent: *\nDisallow: /\n")); err != nil {
		t.Fatal(err)
	}
	if r.publish(fetch.Origin{}, s); s.file.Size() == 0 || r.size != 0 || len(r.sites) != 0 {
		t.Errorf("%d bytes of %d sites, the file has %d", r.size, len(r.sites), s.file.Size())
	}
}

// TestRobotsMemory checks that the memory for rules is bounded.
func TestRobotsMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("parses large files")
	}
	long := "User-agent: *\n" + strings.Repeat("Disallow: /\n", 30_000)
	var host string
	d := fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		body := long
		if strings.HasPrefix(host, "s") {
			body = closed
		}
		return &fetch.Response{Body: io.NopCloser(strings.NewReader(body))}, nil
	})
	r := &robot{agent: "fetch", next: d, sites: map[fetch.Origin]*site{}}
	for i := range 3 * maxSites {
		if host = "s"; i%64 == 0 {
			host = "l"
		}
		host += strings.Repeat("x", i%60) + "." + string(rune('a'+i/60%26)) + string(rune('a'+i/1560))
		r.check(t.Context(), request("http://"+host+"/no"))
		if len(r.sites) > maxSites || r.size > maxSitesSize+8<<20 {
			t.Fatalf("%d sites of %d bytes", len(r.sites), r.size)
		}
	}
}
