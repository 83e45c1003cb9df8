package main

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// Sizes of the crawls with a shared frontier.
const (
	crawlHosts    = 200
	crawlPages    = 40 // pages of each host
	crawlWait     = 20 * time.Millisecond
	pendingIndex  = 1000     // pages with links
	pendingLinks  = 1000     // links of each of these pages
	crawlRequests = "16"     // hosts that a worker visits at a time
	alonePath     = "/alone" // page without links
)

// sharedCases returns the cases of crawls with a shared frontier.
func sharedCases() []Case {
	return []Case{
		{Name: "shared crawl, 200 hosts, 20 ms a request", Measure: measureWorkers},
		{Name: "shared crawl, 8,000 URLs, processor time", Measure: measureEngines},
		{Name: "shared crawl, 1,000,000 pending URLs", Measure: measurePending},
		{Name: "shared frontier, claim, complete and add", Measure: measureFrontier},
		{Name: "mirror of one page without --frontier", Measure: measureStart},
	}
}

// A crawlSite serves pages on 200 loopback addresses with one port.
type crawlSite struct {
	port int
	wait time.Duration // delay before each response
}

func startSite(b *block, wait time.Duration) *crawlSite {
	s := &crawlSite{wait: wait}
	for n := range crawlHosts {
		l, err := net.Listen("tcp4", s.host(n))
		if err != nil {
			b.Fatalf("bench: %v", err)
		}
		s.port = l.Addr().(*net.TCPAddr).Port
		server := &http.Server{Handler: s}
		go server.Serve(l)
		b.Cleanup(func() { server.Close() })
	}
	return s
}

func (s *crawlSite) host(n int) string { return fmt.Sprintf("127.8.0.%d:%d", n+1, s.port) }

// ServeHTTP serves a page with links. The page /N of a host links to all pages
// of the host. The page /index links to the pages /index-0 and so on, which link to
// pages of all hosts.
func (s *crawlSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	time.Sleep(s.wait)
	w.Header().Set("Content-Type", "text/html")
	var text strings.Builder
	switch {
	case r.URL.Path == "/robots.txt":
		http.NotFound(w, r)
		return
	case r.URL.Path == alonePath:
		text.WriteString("<p>alone</p>")
	case r.URL.Path == "/index":
		for n := range pendingIndex {
			fmt.Fprintf(&text, "<a href=/index-%d>x</a>\n", n)
		}
	case strings.HasPrefix(r.URL.Path, "/index-"):
		for n := range pendingLinks {
			fmt.Fprintf(&text, "<a href=http://%s/pages%s/%d>x</a>\n", s.host(n%crawlHosts), r.URL.Path, n)
		}
	default:
		for n := range crawlPages {
			fmt.Fprintf(&text, "<a href=/%d>%d</a>\n", n, n)
		}
		fmt.Fprintf(&text, "<p>%s%s</p>", r.Host, r.URL.Path)
	}
	fmt.Fprint(w, text.String())
}

// seeds returns the URL of the first page of each host.
func (s *crawlSite) seeds() (urls []string) {
	for n := range crawlHosts {
		urls = append(urls, "http://"+s.host(n)+"/0")
	}
	return urls
}

// A crawl runs one or more workers, which are processes of fetch mirror, and
// measures them.
type crawl struct {
	b       *block
	program string
	dsn     string // URL of the frontier; "" means SQLite
}

// newCrawl returns a crawl whose frontier is a new schema of db. If db is nil,
// the frontier is an SQLite database.
func newCrawl(b *block, opts options, db *peer.Server, name string) *crawl {
	c := &crawl{b: b, program: opts.program}
	if db != nil {
		c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=%s", db.Addr, name)
	}
	return c
}

// run runs n workers until the crawl is complete. It returns the wall time, the
// total processor time of the workers, and the largest memory of one worker.
func (c *crawl) run(n int, exit int, args ...string) usage {
	var used usage
	var mu sync.Mutex
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		all.Go(func() {
			state, err := c.worker(i, exit, args)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				c.b.Logf("bench: %v", err)
				c.b.failed = true
			}
			used[cpu] += state[cpu]
			used[memory] = max(used[memory], state[memory])
		})
	}
	all.Wait()
	used[wall] = time.Since(began).Seconds()
	if c.b.failed {
		c.b.Fatalf("bench: a worker failed")
	}
	return used
}

func (c *crawl) worker(i, exit int, args []string) (used usage, err error) {
	dir := filepath.Join(scratchDir(c.b, false), "archive")
	all := []string{"--no-config", "-s", "mirror", "--output-dir", dir, "--warc", "--no-tree", "--delay", "0", "--per-host", "1",
		"--hosts", crawlRequests}
	if c.dsn != "" {
		all = append(all, "--frontier", c.dsn, "--worker", fmt.Sprint("w", i))
	}
	cmd := exec.CommandContext(c.b.ctx, c.program, append(all, args...)...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != exit {
		return used, fmt.Errorf("worker %d: %w: %s", i, err, out)
	}
	state := cmd.ProcessState
	used[cpu] = (state.UserTime() + state.SystemTime()).Seconds()
	used[memory] = peak(state.SysUsage())
	return used, nil
}

// measureWorkers compares three workers with one worker. Each response takes 20
// ms, so that the response times limit the speed and not the processor.
func measureWorkers(b *block, opts options) []row {
	db, site := peer.Postgres(b, true), startSite(b, crawlWait)
	var three, one []float64
	for n := range opts.runs {
		one = append(one, newCrawl(b, opts, db, fmt.Sprint("one", n)).run(1, 0, site.seeds()...)[wall])
		three = append(three, newCrawl(b, opts, db, fmt.Sprint("three", n)).run(3, 0, site.seeds()...)[wall])
	}
	return []row{{name: "shared crawl, 200 hosts, 20 ms: three workers", kind: wall, fetch: middle(three), rival: "one worker",
		other: middle(one), target: &Target{Measure: wall, Ratio: 1 / 1.8}}}
}

// measureEngines compares the processor time of a worker with PostgreSQL and with
// SQLite. Another row contains the processor time of the database server.
func measureEngines(b *block, opts options) []row {
	db, site := peer.Postgres(b, true), startSite(b, 0)
	var shared, alone, server []float64
	for n := range opts.runs {
		alone = append(alone, newCrawl(b, opts, nil, "").run(1, 0, site.seeds()...)[cpu])
		before, err := peer.PostgresTime(db)
		if err != nil {
			b.Fatalf("bench: %v", err)
		}
		shared = append(shared, newCrawl(b, opts, db, fmt.Sprint("crawl", n)).run(1, 0, site.seeds()...)[cpu])
		after, err := peer.PostgresTime(db)
		if err != nil {
			b.Fatalf("bench: %v", err)
		}
		server = append(server, (after - before).Seconds())
	}
	const name = "crawl of 8,000 URLs with PostgreSQL"
	return []row{
		{name: name + ": worker", kind: cpu, fetch: middle(shared), rival: "SQLite", other: middle(alone), target: &Target{Measure: cpu, Ratio: 1.3}},
		{name: name + ": server", kind: cpu, fetch: middle(server), rival: "SQLite", other: middle(alone)},
	}
}

// measurePending measures the memory of a worker that finds a million URLs. The
// limit of 1,001 objects then ends the run.
func measurePending(b *block, opts options) []row {
	db, site := peer.Postgres(b, false), startSite(b, 0)
	c := newCrawl(b, opts, db, "pending")
	used := c.run(1, 10, "--scope", "any", "--max-files", fmt.Sprint(pendingIndex+1), "http://"+site.host(0)+"/index")
	return []row{{name: "crawl with 1,000,000 pending URLs", kind: memory, fetch: used[memory], target: &Target{Measure: memory, Limit: 128 << 20}}}
}
