//go:build linux

package mirrorcmd_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// sharedDelay is the minimum time between two requests to a host.
const sharedDelay = 20 * time.Millisecond

// A sharedSite has pages on several loopback addresses. It records violations of
// politeness.
type sharedSite struct {
	hosts, pages int
	robots       string // content of robots.txt, or ""
	port         int
	padding      string // end of each page

	mu       sync.Mutex
	running  map[string]int       // requests in progress, by host
	last     map[string]time.Time // start of the last request, by host
	agent    map[string]string    // process that sent the last request, by host
	observed siteRecord
	each     func(served int)  // called for each request, or nil
	onHost   func(host string) // called for each request with its host, or nil
}

// A siteRecord describes the requests that a sharedSite has received.
type siteRecord struct {
	served   int
	notMod   int            // responses with the status 304
	visits   map[string]int // number of requests, by URL
	problems []string       // violations of politeness
}

// record returns a copy of the record.
func (s *sharedSite) record() siteRecord {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.observed
	r.visits, r.problems = maps.Clone(r.visits), slices.Clone(r.problems)
	return r
}

// set calls f under the lock of the site. Tests use it for the fields that the
// handlers read.
func (s *sharedSite) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// onRequest makes the site call f for each request, with the number of requests.
func (s *sharedSite) onRequest(f func(served int)) { s.set(func() { s.each = f }) }

// eventAt returns a channel that receives an event at request n. The event calls
// f. Later requests wait for its end, or the crawl could end before it.
func (s *sharedSite) eventAt(n int, f func()) <-chan func() {
	events, done := make(chan func(), 1), make(chan struct{})
	s.onRequest(func(served int) {
		switch {
		case served == n:
			events <- func() {
				defer close(done)
				f()
			}
		case served > n:
			<-done
		}
	})
	return events
}

func newSharedSite(t *testing.T, hosts, pages int) *sharedSite {
	s := &sharedSite{hosts: hosts, pages: pages, running: map[string]int{}, last: map[string]time.Time{}, agent: map[string]string{}}
	s.observed.visits = map[string]int{}
	var listeners []net.Listener // complete before the first handler reads s.port
	for n := range hosts {
		ln, err := net.Listen("tcp4", s.address(n))
		if err != nil {
			t.Fatal(err)
		}
		s.port = ln.Addr().(*net.TCPAddr).Port
		listeners = append(listeners, ln)
	}
	for _, ln := range listeners {
		server := httptest.NewUnstartedServer(s)
		server.Listener.Close()
		server.Listener = ln
		server.Start()
		t.Cleanup(server.Close)
	}
	return s
}

// address returns the address of the host with the number n. All hosts have the
// same port.
func (s *sharedSite) address(n int) string {
	return fmt.Sprintf("127.7.%d.%d:%d", n/200, n%200+1, s.port)
}

func (s *sharedSite) url(host, page int) string {
	return fmt.Sprintf("http://%s/%d", s.address(host), page)
}

// ServeHTTP serves a page. Page n links to the pages 2n+1 and 2n+2 and to a page
// of the next host.
func (s *sharedSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.enter(r.Host, r.UserAgent(), "http://"+r.Host+r.URL.Path)
	defer s.leave(r.Host)
	if r.URL.Path == "/robots.txt" && s.robots != "" {
		io.WriteString(w, s.robots)
		return
	}
	var host, page, a, b int
	fmt.Sscanf(r.Host, "127.7.%d.%d", &a, &b)
	host = 200*a + b - 1
	if _, err := fmt.Sscanf(r.URL.Path, "/%d", &page); err != nil || page >= s.pages {
		http.NotFound(w, r)
		return
	}
	time.Sleep(time.Millisecond) // so that two requests at the same time are found
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("ETag", `"1"`)
	if r.Header.Get("If-None-Match") != "" {
		s.mu.Lock()
		s.observed.notMod++
		s.mu.Unlock()
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, "<title>%s</title>", r.Host+r.URL.Path)
	for _, next := range []int{2*page + 1, 2*page + 2} {
		if next < s.pages {
			fmt.Fprintf(w, "<a href=/%d>next</a>", next)
		}
	}
	fmt.Fprintf(w, "<a href=%s>other host</a>%s", s.url((host+1)%s.hosts, page), s.padding)
}

// enter records the start of a request. It checks the delay between the requests
// of two processes. Half of the delay is enough, because a busy machine can serve
// a request late. The delay within a process is tested elsewhere.
func (s *sharedSite) enter(host, agent, url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.running[host]++; s.running[host] > 1 {
		s.observed.problems = append(s.observed.problems, host+": two requests at the same time")
	}
	if gap := now.Sub(s.last[host]); gap < sharedDelay/2 && agent != s.agent[host] {
		s.observed.problems = append(s.observed.problems, fmt.Sprintf("%s: requests of %s and %s %v apart", host, s.agent[host], agent, gap))
	}
	s.agent[host] = agent
	s.last[host] = now
	s.observed.visits[url]++
	if s.onHost != nil {
		name, _, _ := net.SplitHostPort(host)
		s.onHost(name)
	}
	if s.observed.served++; s.each != nil {
		s.each(s.observed.served)
	}
}

// checkPoliteness reports the violations of politeness as errors.
func (s *sharedSite) checkPoliteness(t *testing.T) {
	t.Helper()
	if problems := s.record().problems; len(problems) > 0 {
		t.Errorf("%d violations of politeness: %s", len(problems), strings.Join(problems, "; "))
	}
}

func (s *sharedSite) leave(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[host]--
}

// A sharedWorker is one of the processes that share a crawl. It has its own
// folder and is started again after it is killed.
type sharedWorker struct {
	name, dir string
	command   func() *exec.Cmd
	heard     func(out string) // called with each output, or nil

	mu     sync.Mutex
	cmd    *exec.Cmd
	starts int
}

// work runs the worker until it exits by itself. It returns its last output. A
// worker that starts while the database restarts is started again.
func (w *sharedWorker) work() (string, error) {
	for {
		var out strings.Builder
		w.mu.Lock()
		w.cmd = w.command()
		w.starts++
		w.cmd.Stdout, w.cmd.Stderr = &out, &out
		if w.heard != nil {
			w.cmd.Stderr = io.MultiWriter(&out, hearer(w.heard))
		}
		err := w.cmd.Start()
		w.mu.Unlock()
		if err != nil {
			return "", err
		}
		err = w.cmd.Wait()
		refused := w.cmd.ProcessState.ExitCode() == 4 && strings.Contains(out.String(), "connection refused")
		if killed := w.cmd.ProcessState.ExitCode() < 0; !killed && !refused {
			return out.String(), err
		}
	}
}

// A hearer is an io.Writer that passes the written text to a function.
type hearer func(out string)

func (h hearer) Write(p []byte) (int, error) { h(string(p)); return len(p), nil }

func (w *sharedWorker) kill() { w.signal(syscall.SIGKILL) }

// signal sends a signal to the process of the worker, if it runs.
func (w *sharedWorker) signal(s syscall.Signal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cmd != nil && w.cmd.Process != nil {
		w.cmd.Process.Signal(s)
	}
}

// A sharedCrawl is a crawl of three workers.
type sharedCrawl struct {
	*sharedSite
	fetch   string
	dsn     string
	db      *peer.Server
	store   string   // URL of the store
	stored  string   // directory with the objects of the store
	env     []string // credentials of the store
	size    string   // value of --warc-size
	workers []*sharedWorker
	flags   []string // additional flags of the workers
}

func newSharedCrawl(t *testing.T, hosts, pages int) *sharedCrawl {
	c := &sharedCrawl{fetch: commandtest.Fetch(t), db: peer.Postgres(t, true), sharedSite: newSharedSite(t, hosts, pages)}
	c.dsn = fmt.Sprintf("postgres://postgres@%s/postgres?search_path=crawl", c.db.Addr)
	c.stored, c.size = filepath.Join(t.TempDir(), "store"), "50k"
	c.store = "file://" + c.stored
	if err := os.Mkdir(c.stored, 0o777); err != nil {
		t.Fatal(err)
	}
	var seeds []string
	for n := range hosts {
		seeds = append(seeds, c.url(n, 0))
	}
	for i := range 3 {
		w := &sharedWorker{name: fmt.Sprint("w", i), dir: filepath.Join(t.TempDir(), "archive")}
		w.command = func() *exec.Cmd {
			return c.command(append([]string{"mirror", "--silent", "--show-error",
				"--worker", w.name, "--user-agent", fmt.Sprint(w.name, ".", w.starts), "--output-dir", w.dir,
				"--per-host", "1", "--delay", fmt.Sprint(sharedDelay.Seconds()), "--hosts", "30", "--warc-size", c.size,
				"--store", c.store}, append(c.flags, seeds...)...)...)
		}
		c.workers = append(c.workers, w)
	}
	return c
}

// command returns a command with the shared frontier.
func (c *sharedCrawl) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.fetch, append(args, "--no-config")...)
	cmd.Env = append(append(os.Environ(), "FETCH_FRONTIER="+c.dsn), c.env...)
	return cmd
}

// useS3 makes the crawl store its files in versitygw.
func (c *sharedCrawl) useS3(t *testing.T) *peer.Server {
	s := peer.Versitygw(t, "warcs")
	c.store = "s3://warcs/crawl?region=us-east-1&endpoint=http://" + s.Addr
	c.stored = filepath.Join(s.Root, "warcs", "crawl")
	c.env = []string{"AWS_ACCESS_KEY_ID=" + peer.User, "AWS_SECRET_ACCESS_KEY=" + peer.Password}
	return s
}

// run runs all workers until they end. It executes the events meanwhile and
// returns their number. The function ended is called for each worker that ends.
func (c *sharedCrawl) run(events <-chan func(), ended func(w *sharedWorker, out string, err error)) (done int) {
	var all sync.WaitGroup
	for _, w := range c.workers {
		all.Go(func() {
			out, err := w.work()
			ended(w, out, err)
		})
	}
	finished := make(chan struct{})
	go func() { all.Wait(); close(finished) }()
	for {
		select {
		case event := <-events:
			event()
			done++
		case <-finished:
			return done
		}
	}
}

// TestAbandonedWorker abandons a worker that is stopped. The other workers must
// retrieve the URLs again whose records are not in the store. If the process
// continues or starts again, it must end without a further change of the crawl. A
// new folder can take the name of the worker.
func TestAbandonedWorker(t *testing.T) {
	for _, test := range []struct {
		name               string
		continues, deleted bool
	}{{name: "starts again"}, {name: "continues", continues: true}, {name: "loses its folder", deleted: true}} {
		t.Run(test.name, func(t *testing.T) {
			c := newSharedCrawl(t, 20, 30)
			lost := c.workers[1]
			events := make(chan func(), 2)
			c.onRequest(func(served int) {
				switch served {
				case 200:
					events <- func() {
						lost.signal(syscall.SIGSTOP)
						if e := commandtest.Exec(t, c.command("frontier", "abandon", "--force-after", "0", "--store", c.store, lost.name)); e.Code != 0 {
							t.Errorf("abandon: %v", e)
						}
						if test.deleted {
							os.RemoveAll(lost.dir)
						}
						if !test.continues {
							lost.signal(syscall.SIGKILL) // work starts the worker again
						}
					}
				case 500:
					if test.continues {
						events <- func() { lost.signal(syscall.SIGCONT) }
					}
				}
			})
			c.run(events, func(w *sharedWorker, out string, err error) {
				switch {
				case w == lost && !test.deleted:
					if err == nil || w.cmd.ProcessState.ExitCode() != 3 || !strings.Contains(out, "abandoned") {
						t.Errorf("the abandoned worker: %v: %s", err, out)
					}
				case err != nil:
					t.Errorf("worker %s: %v: %s", w.name, err, out)
				}
			})
			c.check(t)
		})
	}
}
