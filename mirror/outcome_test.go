package mirror_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/prospertest"
	"github.com/anyurl/fetch/mirror"
)

// outcome returns the last event of a URL in crawl.jsonl.
func outcome(t testing.TB, dir, url string) (last mirror.Event) {
	t.Helper()
	for _, e := range events(t, dir) {
		if e.URL == url {
			last = e
		}
	}
	return last
}

// TestOutage checks that URLs of a server that refuses connections, or whose
// name is unknown, count as unreached. They are no permanent failures, and the
// note starts with the network error.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, host, says string }{
		{"connection refused", "down.example", "get http://down.example/: dial tcp 8.8.4.1:80: connect: connection refused (robots.txt of"},
		{"unknown host", "none.example", "get http://none.example/: lookup none.example: no such host (robots.txt of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.name("down.example")
				w.web("a.example", webSite{"/": `<a href="none">`})
				url := "http://" + c.host + "/"
				o := w.options("http://a.example/", url)
				for nth := range 3 { // each run requests the URL again
					sum := run(t, o)
					if sum.Unreached != 1 || sum.Failed != 1 || sum.Pending != 0 {
						t.Errorf("run %d: %+v", nth+1, sum)
					}
					if want := int64(2); nth == 0 && sum.NewlyFailed != want || nth > 0 && sum.NewlyFailed != 0 {
						t.Errorf("run %d: %d newly failed", nth+1, sum.NewlyFailed)
					}
					e := outcome(t, o.Dir, url)
					if e.State != "pending" || !e.Unreached || !strings.HasPrefix(e.Note, c.says) {
						t.Errorf("run %d: %+v", nth+1, e)
					}
					checkVerify(t, o.Dir)
				}
				if got := content(t, filepath.Join(o.Dir, "failed.txt")); got != "http://a.example/none\n"+url+"\n" {
					t.Errorf("failed.txt: %q", got)
				}
				w.web(c.host, webSite{"/": "there"})
				o.Client = w.options().Client // without the cached robots.txt
				if sum := run(t, o); sum.Unreached != 0 || sum.New != 1 {
					t.Errorf("after the outage: %+v\n%s", sum, outcomes(t, o.Dir))
				}
			})
		})
	}
}

// TestMistypedSeed checks that only runs with the seed request a seed that
// could not be reached.
func TestMistypedSeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("a.example", webSite{"/": "a"})
		wrong, right := w.options("http://mistyped.example/"), w.options("http://a.example/")
		right.Dir = wrong.Dir
		for range 2 {
			if sum := run(t, wrong); sum.Unreached != 1 {
				t.Errorf("%+v", sum)
			}
		}
		w.unknownLookups = 0
		if sum := run(t, right); sum.Unreached != 0 || sum.New != 1 || w.unknownLookups != 0 {
			t.Errorf("%+v, %d lookups\n%s", sum, w.unknownLookups, outcomes(t, right.Dir))
		}
	})
}

// TestNewlyFailed checks the number of failed URLs that did not fail in the
// previous run.
func TestNewlyFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		site := webSite{"/": `<a href=1><a href=2><a href=3>`, "/3": "three"}
		w.web("a.example", site)
		o := w.options("http://a.example/")
		for _, c := range []struct {
			name        string
			change      func()
			newly, fail int64
		}{
			{"two missing pages", func() {}, 2, 2},
			{"same missing pages", func() {}, 0, 2},
			{"third missing page", func() { site["/"] += "<a href=4>" }, 1, 3},
			{"page that exists again", func() { site["/1"] = "one" }, 0, 2},
			{"deleted page, not a failure", func() { delete(site, "/1") }, 0, 2},
			{"all pages exist", func() { site["/1"], site["/2"], site["/4"] = "1", "2", "4" }, 0, 0},
		} {
			c.change()
			sum := run(t, o)
			if sum.NewlyFailed != c.newly || sum.Failed != c.fail {
				t.Errorf("%s: %+v", c.name, sum)
			}
			status, err := mirror.Open(mirror.Location{Dir: o.Dir}).Status(t.Context())
			if err != nil || sum.Dead != status.States[mirror.Dead] || sum.Dead != c.fail || sum.Postponed != status.Unreached {
				t.Errorf("%s: %+v, but the archive has %+v, %v", c.name, sum, status, err)
			}
		}
		if _, err := os.Stat(filepath.Join(o.Dir, "failed.txt")); err == nil {
			t.Error("failed.txt exists without a failure")
		}
	})
}

// TestUnknownHost checks that further URLs of an unknown host cause no lookup.
func TestUnknownHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		links := ""
		for n := range 100 {
			links += fmt.Sprintf(`<a href="http://none.example/%d">`, n)
		}
		w.web("a.example", webSite{"/": links})
		o := w.options("http://a.example/")
		o.Scope.Reach = mirror.Any
		sum := run(t, o)
		w.mu.Lock()
		defer w.mu.Unlock()
		if sum.Unreached != 100 || sum.Postponed != 100 || w.unknownLookups > 2 {
			t.Errorf("%d lookups: %+v", w.unknownLookups, sum)
		}
	})
}

// TestCounts checks that requested, listed, repaired and excluded objects are
// counted separately.
func TestCounts(t *testing.T) {
	t.Parallel()
	s := peer.Proftpd(t, peer.FTPOptions{})
	for _, name := range []string{"pub/one.txt", "pub/two.txt", "other/x"} {
		s.Put(name, []byte(name))
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) // exact to the second
		if err := os.Chtimes(filepath.Join(s.Root, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	one := "ftp://" + s.Addr + "/pub/one.txt"
	o := options(t, "ftp://"+s.Addr+"/pub/")
	elsewhere := options(t, "ftp://"+s.Addr+"/other/")
	elsewhere.Dir = o.Dir
	for _, c := range []struct {
		name string
		o    mirror.Options
		want mirror.Summary
		one  mirror.Event // the last event of the file
	}{
		{"first run", o, mirror.Summary{New: 3}, mirror.Event{State: "done"}},
		{"second run", o, mirror.Summary{Unchanged: 1, Listed: 2}, mirror.Event{State: "done", Unchanged: true, Note: "unchanged according to the listing"}},
		{"repaired file", o, mirror.Summary{Unchanged: 1, Listed: 1, Repaired: 1}, mirror.Event{State: "done", Unchanged: true, Repaired: true}},
		{"other seeds", elsewhere, mirror.Summary{New: 2, Excluded: 3}, mirror.Event{State: "excluded", Note: "out of scope"}},
		{"first seeds again", o, mirror.Summary{Unchanged: 1, Listed: 2, Excluded: 2}, mirror.Event{State: "done", Unchanged: true, Note: "unchanged according to the listing"}},
	} {
		if c.name == "repaired file" {
			name := filepath.Join(o.Dir, "tree/ftp", treeHost(s.Addr), "pub/one.txt")
			if err := os.Truncate(name, 3); err != nil {
				t.Fatal(err)
			}
		}
		got := run(t, c.o)
		got.Run, got.Repeated, got.Bytes = 0, false, 0
		e := outcome(t, o.Dir, one)
		if got != c.want || e.State != c.one.State || e.Unchanged != c.one.Unchanged || e.Repaired != c.one.Repaired || e.Note != c.one.Note {
			t.Errorf("%s: %+v\n%+v\n%s", c.name, got, e, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	}
}

// TestRedirectOutOfScope checks that a redirect out of scope is excluded with a
// reason and recorded once.
func TestRedirectOutOfScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		loop := func(n int) string { return fmt.Sprintf("-> /d/loop%d", n) }
		site := webSite{"/d/": `<a href=out><a href=odd><a href=loop0>`, "/d/out": "-> http://b.example/x", "/d/odd": "-> telnet://b.example/"}
		for n := range 20 {
			site[fmt.Sprintf("/d/loop%d", n)] = loop(n + 1)
		}
		w.policy.Redirects = []string{"*"}
		w.web("a.example", site)
		w.web("b.example", webSite{"/x": "x"})
		o := w.options("http://a.example/d/")
		for nth := range 2 {
			sum := run(t, o)
			if strings.Contains(w.requests(), "b.example") || sum.Excluded < 3 {
				t.Errorf("%+v\n%s", sum, outcomes(t, o.Dir))
			}
			for name, why := range map[string]string{
				"out": "the redirect leads to http://b.example/x: out of scope", "odd": "the redirect leads to telnet, which cannot be mirrored", "loop10": "too many redirects",
			} {
				if e := outcome(t, o.Dir, "http://a.example/d/"+name); e.State != "excluded" || e.Note != why {
					t.Errorf("run %d: %+v", nth+1, e)
				}
			}
		}
		if got := strings.Join(recordsOf(t, o.Dir, "http://a.example/d/out"), ", "); !strings.HasPrefix(got, "response") || strings.Count(got, "response") != 1 {
			t.Errorf("recorded: %s", got)
		}
		checkVerify(t, o.Dir)
	})
}

// TestProsperoScope checks that files in a Prospero directory are in scope on
// any host, and directories only on the same server. Other entries are excluded
// with a reason.
func TestProsperoScope(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		w.web("files.example", webSite{"/a.html": `<a href="b.html">`, "/b.html": "b"})
		p := prospertest.NewServer("P.EXAMPLE")
		access := func(host, path string) []string {
			return []string{"FIELD ACCESS-METHOD SEQUENCE HTTP INTERNET-D " + host + " ASCII " + path}
		}
		p.Add(prospertest.Object{Name: "docs", Target: "DIRECTORY", Hidden: true})
		p.Add(prospertest.Object{Name: "docs/a.html", Target: "EXTERNAL", Host: "FILES.EXAMPLE", Path: "/a.html", Attributes: access("FILES.EXAMPLE", "/a.html")})
		p.Add(prospertest.Object{Name: "docs/here", Target: "DIRECTORY", Host: "P.EXAMPLE", Path: "AFTP/pub"})
		p.Add(prospertest.Object{Name: "docs/there", Target: "DIRECTORY", Host: "Q.EXAMPLE", Path: "AFTP/pub"})
		p.Add(prospertest.Object{Name: "AFTP/pub", Target: "DIRECTORY", Hidden: true})
		p.Add(prospertest.Object{Name: "AFTP/pub/one.txt", Target: "FILE", Contents: []byte("the first\n")})
		w.net.ServePackets(w.name("p.example").String()+":1525", faultnet.Packets{Answer: p.Answer})
		o := w.options("prospero://p.example/docs")
		sum := run(t, o)
		want := `done http://files.example/a.html
done prospero://p.example/AFTP/pub
done prospero://p.example/AFTP/pub/one.txt
done prospero://p.example/docs
excluded prospero://q.example/AFTP/pub`
		if got := outcomes(t, o.Dir); got != want || sum.Excluded < 1 || sum.New != 4 {
			t.Errorf("%+v\n%s", sum, got)
		}
		o.Scope.Reach = mirror.Host
		if sum := run(t, o); sum.New != 0 {
			t.Errorf("again: %+v\n%s", sum, outcomes(t, o.Dir))
		}
		checkVerify(t, o.Dir)
	})
}
