package mirror_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/warc"
)

// A simulatedHost is a web server with generated pages.
type simulatedHost struct {
	s        *simulation
	name     string
	pages    webSite // contents by path
	slowness time.Duration
	delay    time.Duration // Crawl-delay in robots.txt, or 0

	// Protected by s.mu.
	downUntil time.Time
	silent    bool              // the host accepts connections while it is down
	starts    []time.Time       // of the requests of the current process, without those that were sent again
	lastPath  string            // path of the last of them
	active    map[string]int    // number of requests by process
	nth       map[string]uint64 // number of requests by path
	aborted   map[string]bool   // whether the connection of the last request for a path ended without a response
}

// newHosts generates hosts and pages. Each page is linked from an earlier page.
func (s *simulation) newHosts() {
	for i := range 1 + s.random.IntN(4) {
		h := &simulatedHost{s: s, name: fmt.Sprintf("h%d.example", i), pages: webSite{}, active: map[string]int{},
			nth: map[string]uint64{}, aborted: map[string]bool{}}
		h.slowness = time.Duration(1 + s.random.Int64N(int64(3*time.Second)))
		if s.random.IntN(4) == 0 {
			h.delay = time.Duration(1+s.random.IntN(5)) * time.Second
			h.pages["/robots.txt"] = fmt.Sprintf("User-agent: *\nCrawl-delay: %d\n", h.delay/time.Second)
		}
		s.hosts = append(s.hosts, h)
	}
	type page struct {
		h    *simulatedHost
		path string
	}
	all := []page{{s.hosts[0], "/"}}
	s.hosts[0].pages["/"] = "<p>start"
	for n := range 3 + s.random.IntN(30) {
		p := page{s.hosts[s.random.IntN(len(s.hosts))], fmt.Sprintf("/%d", n)}
		p.h.pages[p.path] = fmt.Sprintf("<p>page %d of %s%s", n, p.h.name, strings.Repeat(" text", s.random.IntN(400)))
		all = append(all, p)
		for range 1 + s.random.IntN(3) { // the first link makes the page reachable
			from := all[s.random.IntN(len(all)-1)]
			from.h.pages[from.path] += fmt.Sprintf("<a href=http://%s%s>", p.h.name, p.path)
		}
	}
	for _, h := range s.hosts {
		s.net.web(h.name, h)
	}
}

// fail makes h unreachable for the duration d.
func (h *simulatedHost) fail(d time.Duration, silent bool) {
	h.s.mu.Lock()
	defer h.s.mu.Unlock()
	h.s.counts.Outages++
	h.downUntil, h.silent = time.Now().Add(d), silent
}

// cut sends the start of a response and closes the connection.
func (h *simulatedHost) cut(w http.ResponseWriter, r *http.Request) {
	body := h.pages[r.RequestURI]
	w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
	w.Header().Set("Content-Type", "text/html")
	w.Write([]byte(body[:len(body)/2]))
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// tolerance is the part of a pause that may be missing, because requests need
// time to reach the server.
const tolerance = 20 * time.Millisecond

// begin checks the pause before a request. It returns the number
// of the request for its path. The caller calls end after the request.
func (h *simulatedHost) begin(r *http.Request) (nth uint64, end func()) {
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts.Requests++
	process := s.processOf(r)
	h.active[process]++
	s.record(fmt.Sprintf("%v, %s: request for %s%s", time.Since(s.net.started), process, h.name, r.RequestURI))
	delay := s.o.Delay
	if delay == 0 {
		delay = time.Second
	}
	if h.lastPath != "/robots.txt" && r.RequestURI != "/robots.txt" {
		delay = max(delay, h.delay)
	}
	// A request is sent again at once if its reused connection ends without a
	// response (RFC 9112 9.3.1).
	again := h.aborted[r.RequestURI]
	if n := len(h.starts) - 1; n >= 0 && !again {
		if gap := time.Since(h.starts[n]); gap < delay-tolerance {
			s.Errorf("%v, %s: %s%s: %v after an earlier request, want %v", time.Since(s.net.started), process, h.name, r.RequestURI, gap, delay)
		}
	}
	if h.nth[r.RequestURI]++; !again {
		h.starts, h.lastPath = append(h.starts, time.Now()), r.RequestURI
	}
	return h.nth[r.RequestURI], func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		h.active[process]--
	}
}

// checkActive checks the number of active requests a moment later. A request whose
// connection the client has closed has then ended: the client may send its next
// request at the same time, before the handler of the earlier one runs again.
func (h *simulatedHost) checkActive(r *http.Request) {
	time.Sleep(time.Nanosecond)
	s := h.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := h.countActive(s.processOf(r)); n > s.o.PerHost {
		s.Errorf("%d requests to %s at the same time, %d are allowed", n, h.name, s.o.PerHost)
	}
}

// processOf returns the name of the process that has sent r.
func (s *simulation) processOf(r *http.Request) string {
	if s.workers != nil {
		return r.UserAgent()
	}
	return fmt.Sprint("process ", s.life)
}

// countActive returns the number of requests of all processes that run. In a
// shared crawl, only one process may visit the host.
func (h *simulatedHost) countActive(process string) (n int) {
	w := h.s.workers
	if w == nil {
		return h.active[process]
	}
	for name, active := range h.active {
		if !w.running[name] || active == 0 {
			continue
		}
		if n += active; name != process {
			h.s.Errorf("%s and %s visit %s at the same time", name, process, h.name)
		}
	}
	return n
}

// checkArchive checks the archive after the end of a process. If complete is
// true, the archive must contain all pages.
func (s *simulation) checkArchive(complete bool) {
	if !complete {
		s.checkLog()
		return
	}
	checkVerify(s, s.o.Dir)
	done := s.checkLog()
	want := s.want(done)
	if s.o.Tree {
		for _, h := range s.hosts {
			for path, body := range h.pages {
				s.checkFile(h, path, body)
			}
		}
	}
	s.checkWARC(want, warcs(s, s.o.Dir))
	status, err := mirror.Open(mirror.Location{Dir: s.o.Dir}).Status(context.Background())
	if n := status.States[mirror.Done]; err != nil || n != int64(len(done)) || status.States[mirror.Pending] != 0 {
		s.Errorf("the database has %+v, the log has %d objects (%v)", status, len(done), err)
	}
}

// want returns the digests of all pages by URL. It checks that the log has all of
// them.
func (s *simulation) want(done map[string]bool) map[string]string {
	want := map[string]string{}
	for _, h := range s.hosts {
		for path, body := range h.pages {
			sum := sha1.Sum([]byte(body))
			url := "http://" + h.name + path
			want[url] = base32.StdEncoding.EncodeToString(sum[:])
			if !done[url] && path != "/robots.txt" {
				s.Errorf("%s is not in the log", url)
			}
		}
	}
	return want
}

func (s *simulation) checkFile(h *simulatedHost, path, body string) {
	name := path
	if path == "/" {
		name = "/index.html"
	}
	file := filepath.Join(s.o.Dir, "tree", "http", h.name, filepath.FromSlash(name))
	if got, err := os.ReadFile(file); path != "/robots.txt" && (err != nil || string(got) != body) {
		s.Errorf("tree: %s%s has %d bytes, want %d (%v)", h.name, path, len(got), len(body), err)
	}
}

// checkLog checks that no run visited a URL twice. It returns the URLs whose
// last state is done.
func (s *simulation) checkLog() (done map[string]bool) { return s.checkLogs(s.o.Dir) }

// checkLogs is like checkLog for the logs of several workers.
func (s *simulation) checkLogs(dirs ...string) (done map[string]bool) {
	var all []mirror.Event
	for _, dir := range dirs {
		all = append(all, s.readLog(dir)...)
	}
	slices.SortStableFunc(all, func(a, b mirror.Event) int { return cmp.Compare(a.Run, b.Run) })
	done = map[string]bool{}
	visits := map[string]int{}
	for _, e := range all {
		switch e.State {
		case "done", "dead", "gone", "excluded", "kept":
			key := fmt.Sprintf("%d %s", e.Run, e.URL)
			if visits[key]++; visits[key] > 1 {
				s.Errorf("log: run %d visited %s twice", e.Run, e.URL)
			}
			if done[e.URL] = e.State == "done"; !done[e.URL] {
				delete(done, e.URL)
			}
		}
	}
	return done
}

// readLog returns the visits in the log in dir.
func (s *simulation) readLog(dir string) (all []mirror.Event) {
	f, err := os.Open(filepath.Join(dir, "crawl.jsonl"))
	if err != nil {
		return nil // the process was killed before the first visit
	}
	defer f.Close()
	text := bufio.NewReader(f)
	for {
		line, err := text.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				s.note("the last line of the log is incomplete: %q", line)
			}
			return all
		}
		var e mirror.Event
		if err := json.Unmarshal(line, &e); err != nil {
			s.Errorf("log: %q: %v", line, err)
		} else if e.URL != "" {
			all = append(all, e)
		}
	}
}

// checkWARC checks that each object is in one record.
func (s *simulation) checkWARC(want map[string]string, files []string) {
	records := map[string]int{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			s.Fatal(err)
		}
		for l, err := range warc.Lines(name, f) {
			if err != nil {
				s.Errorf("%s: %v", name, err)
				break
			}
			if digest, ok := want[l.URL]; ok && l.Media != "warc/revisit" && l.Status == "200" && l.Digest == digest {
				records[l.URL]++
			}
		}
		f.Close()
	}
	for url := range want {
		if n := records[url]; n != 1 && !strings.HasSuffix(url, "/robots.txt") {
			s.Errorf("the WARC files contain %s %d times", url, n)
		}
	}
}
