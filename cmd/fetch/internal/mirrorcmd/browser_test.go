//go:build linux

package mirrorcmd_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// needBrowser skips a test if Chromium or network namespaces are missing.
func needBrowser(t *testing.T) {
	t.Helper()
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
}

// startBrowserCrawl starts a crawl with a browser. The folders of the browser are
// in temp.
func startBrowserCrawl(t *testing.T, temp string, args ...string) *commandtest.Process {
	t.Helper()
	args = append([]string{"fetch", "--no-config", "mirror", "--browser", "--warc", "--no-tree", "--delay", "0"}, args...)
	c := commandtest.Command(args...)
	c.Env = append(os.Environ(), "TMPDIR="+temp)
	return commandtest.Start(t, c)
}

// browserTemp returns a folder for the folders of browsers, which another user
// can open.
func browserTemp(t *testing.T) string {
	t.Helper()
	dir := commandtest.Folder(t)
	if err := os.Chmod(dir, 0o1777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBrowserKills kills a crawl with a browser several times. The last run
// completes it.
func TestBrowserKills(t *testing.T) {
	t.Parallel()
	browserKills(t, 3)
}

// browserKills crawls pages that scripts build. It kills the process n times, each
// time at another request.
func browserKills(t *testing.T, n int) {
	needBrowser(t)
	pages := 4 * n
	var killAt atomic.Int64 // number of requests until the kill
	var running atomic.Pointer[commandtest.Process]
	requested := make(chan struct{}, 1)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case requested <- struct{}{}:
		default:
		}
		if killAt.Add(-1) == 0 {
			running.Load().Process.Kill()
			io.Copy(io.Discard, r.Body) // the server notices the end of a connection only after the body
			<-r.Context().Done()
			return
		}
		var i int
		if strings.HasSuffix(r.URL.Path, ".js") {
			fmt.Sscanf(r.URL.Path, "/%d.js", &i)
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "for (const i of [%d, %d]) { if (i < %d) { document.body.innerHTML += '<a href=/' + i + '.html>next</a>' } } fetch('/api', {method: 'POST', body: new URLSearchParams({page: %d})})",
				2*i+1, 2*i+2, pages, i)
			return
		}
		if _, err := fmt.Sscanf(r.URL.Path, "/%d.html", &i); err != nil && r.URL.Path != "/api" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<body>page %d<script src=/%d.js></script>", i, i)
	}))
	defer site.Close()
	dir, temp := filepath.Join(t.TempDir(), "archive"), browserTemp(t)
	crawl := func(kill int) commandtest.Result {
		killAt.Store(int64(kill))
		p := startBrowserCrawl(t, temp, "--page-idle", "0.3", "--output-dir", dir, site.URL+"/0.html")
		running.Store(p)
		return p.WaitActive(t, requested) // the last run visits most of the pages
	}
	for i := range n {
		if r := crawl(1 + (7*i+4)%11); r.Code != 128+int(syscall.SIGKILL) {
			t.Fatalf("kill %d: %s", i, r)
		}
	}
	if r := crawl(0); r.Code != 0 {
		t.Fatalf("last run: %s", r)
	}
	commandtest.Run(t, 0, "verify", dir)
	if left := commandtest.FileNames(t, temp); left != "" {
		t.Errorf("files in TMPDIR: %s", left)
	}
	visits := map[string]int{}
	for _, v := range browserVisits(t, dir) {
		visits[strings.TrimPrefix(v.URL, site.URL)]++
	}
	for i := range pages {
		for _, name := range []string{fmt.Sprintf("/%d.html", i), fmt.Sprintf("/%d.js", i)} {
			if visits[name] != 1 {
				t.Errorf("%s: %d visits", name, visits[name])
			}
		}
	}
	index := commandtest.Content(t, filepath.Join(dir, "index", "all.cdxj"))
	for i := range pages {
		if n := strings.Count(index, fmt.Sprintf("/api?__wb_method=post&page=%d ", i)); n != 1 {
			t.Errorf("%d captures of the POST request of page %d", n, i)
		}
	}
}

// A browserVisit is a line of crawl.jsonl.
type browserVisit struct {
	URL, State, Note string
	Unread           bool
}

// browserVisits returns the successful visits of an archive.
func browserVisits(t *testing.T, dir string) (all []browserVisit) {
	t.Helper()
	for line := range strings.Lines(commandtest.Content(t, filepath.Join(dir, "crawl.jsonl"))) {
		var v browserVisit
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if v.State == "done" {
			all = append(all, v)
		}
	}
	return all
}

// TestBrowserFailures crawls pages that hang, that end the process which shows
// them, and that end the browser. The crawl goes on, and names them.
func TestBrowserFailures(t *testing.T) {
	t.Parallel()
	const enough = "300" // no page uses it
	t.Run("loop", func(t *testing.T) {
		t.Parallel()
		browserFailures(t, "10", []failingPage{
			{"loop", `<script>onload = () => { while (1) {} }</script>`, "the scripts of the page do not end", true},
		})
	})
	t.Run("pages", func(t *testing.T) {
		t.Parallel()
		browserFailures(t, enough, []failingPage{
			{"crash", `<script>fetch('/kill/renderer')</script>`, "the page crashed", true},
			{"alert", `<script>alert(1); document.write('<a href=fine>after the alert</a>')</script>`, "a dialog (alert) was accepted", false},
			{"fine", `fine`, "", false},
		})
	})
	t.Run("browser", func(t *testing.T) {
		t.Parallel()
		browserFailures(t, enough, []failingPage{
			{"dies", `<script>fetch('/kill/browser')</script>`, "the browser ended while the page was open", true},
			{"dies-once", `<script>fetch('/kill/once')</script>`, "", false},
		})
	})
}

// A failingPage is a page whose visit fails, or succeeds with a note.
type failingPage struct {
	name, text string
	note       string // part of the note of the visit
	unread     bool   // the browser cannot read the page
}

// browserFailures crawls pages, some of which fail. The browser has pageTime
// seconds for each page.
func browserFailures(t *testing.T, pageTime string, pages []failingPage) {
	needBrowser(t)
	var running atomic.Pointer[commandtest.Process]
	var killed atomic.Bool
	texts := map[string]string{"/": "<script>"}
	for _, p := range pages {
		texts["/"] += "document.write('<a href=" + p.name + "></a>');"
		texts["/"+p.name] = p.text
	}
	texts["/"] += "</script>"
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/kill/renderer":
			killBrowser(t, running.Load().Process.Pid, "--type=renderer")
			<-r.Context().Done()
		case "/kill/browser":
			killBrowser(t, running.Load().Process.Pid, "--remote-debugging-pipe")
			<-r.Context().Done()
		case "/kill/once":
			if !killed.Swap(true) {
				killBrowser(t, running.Load().Process.Pid, "--remote-debugging-pipe")
				<-r.Context().Done()
			}
		}
		text, ok := texts[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, text)
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "archive")
	p := startBrowserCrawl(t, browserTemp(t), "--browser-tabs", "1", "--page-time", pageTime, "--page-idle", "0.3", "--output-dir", dir, site.URL+"/")
	running.Store(p)
	r := p.Wait(t)
	if r.Code != 8 {
		t.Errorf("the crawl: %s", r)
	}
	visits := map[string]browserVisit{}
	for _, v := range browserVisits(t, dir) {
		visits[v.URL] = v
	}
	for _, p := range pages {
		url := site.URL + "/" + p.name
		if v, ok := visits[url]; !ok || v.Unread != p.unread || !strings.Contains(v.Note, p.note) {
			t.Errorf("%s: %+v, want the note %q", p.name, v, p.note)
		}
		if p.unread {
			commandtest.Contains(t, r.Stderr, url+": done: browser: "+p.note)
		}
	}
	commandtest.Run(t, 0, "verify", dir)
}

// killBrowser kills the processes of the browser of a crawl whose command line
// contains an argument. The parameter crawl is the process of the crawl.
func killBrowser(t *testing.T, crawl int, argument string) {
	t.Helper()
	parents := parentsOf(t)
	killed := 0
	for id := range parents {
		if isBelow(parents, id, crawl) && strings.Contains(commandLine(id), argument) && syscall.Kill(id, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Errorf("the browser has no process with the argument %s", argument)
	}
}

// isBelow reports whether ancestor started a process, or started another one that
// did.
func isBelow(parents map[int]int, id, ancestor int) bool {
	for range len(parents) {
		if id = parents[id]; id == ancestor {
			return true
		}
	}
	return false
}

// parentsOf returns the parents of all processes.
func parentsOf(t *testing.T) map[int]int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, dir := range names {
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue // the process has ended
		}
		var id, parent int
		var state string
		_, fields, _ := strings.Cut(string(stat), ") ")
		fmt.Sscan(filepath.Base(dir), &id)
		fmt.Sscan(fields, &state, &parent)
		parents[id] = parent
	}
	return parents
}

// commandLine returns the arguments of a process, separated by spaces or NUL. It
// must not be called for processes that the test has not started, because the
// kernel waits until these do not change their memory.
func commandLine(id int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id)) // empty if the process has ended
	return string(line)
}
