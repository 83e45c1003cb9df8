package browser_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/internal/test/peer"
)

// open starts a browser for a test.
func open(t testing.TB, o browser.Options) *browser.Browser {
	t.Helper()
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	b, err := browser.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// pages answers the requests of pages from texts by URL.
type pages struct {
	texts map[string]string

	mu   sync.Mutex
	seen []string
}

func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.seen = append(p.seen, r.URL.String())
	p.mu.Unlock()
	text, ok := p.texts[r.URL.String()]
	if !ok {
		http.NotFound(w, r)
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, ".js"):
		w.Header().Set("Content-Type", "text/javascript")
	case strings.HasSuffix(r.URL.Path, ".bin"):
		w.Header().Set("Content-Type", "application/octet-stream")
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	fmt.Fprint(w, text)
}

// TestVisit opens pages over http and https whose scripts change them.
func TestVisit(t *testing.T) {
	b := open(t, browser.Options{PageTime: 20 * time.Second, PageIdle: 200 * time.Millisecond,
		Behaviors: browser.AllBehaviors(), Copies: browser.AllCopies()})
	site := &pages{texts: map[string]string{
		"http://a.test/": `<!DOCTYPE html><p id=x>before</p><script src="/s.js"></script><iframe src="https://b.test/frame"></iframe>`,
		"http://a.test/s.js": `x.textContent = 'after'; const l = document.createElement('a'); l.href = '/made'; document.body.append(l);
			const host = document.body.appendChild(document.createElement('div'));
			host.attachShadow({mode: 'open'}).innerHTML = '<a href=/shadow>s</a>'`,
		"https://b.test/frame": `<a href="/in-frame">f</a><script>document.body.append(location.protocol)</script>`,
	}}
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: site, Navigate: func(string, bool) {}})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Frames) != 2 || p.Frames[0].URL != "http://a.test/" || p.Frames[1].URL != "https://b.test/frame" {
		t.Fatalf("frames: %+v", p.Frames)
	}
	for _, want := range []string{"<!DOCTYPE html>", "after", `href="/made"`, "/shadow"} {
		if !strings.Contains(p.Frames[0].HTML, want) {
			t.Errorf("no %q in %s", want, p.Frames[0].HTML)
		}
	}
	if !strings.Contains(p.Frames[1].HTML, "https:") {
		t.Errorf("frame: %s", p.Frames[1].HTML)
	}
	if !strings.HasPrefix(p.Text, "after") {
		t.Errorf("text: %q", p.Text)
	}
	starts := map[string]string{"screenshot": "\x89PNG", "pdf": "%PDF", "text": "after"}
	for _, c := range p.Copies {
		if !strings.HasPrefix(string(c.Data), starts[c.Name]) {
			t.Errorf("copy %s: %.20q", c.Name, c.Data)
		}
		delete(starts, c.Name)
	}
	if len(starts) > 0 || len(p.Notes) > 0 {
		t.Errorf("missing copies: %v, notes: %q", starts, p.Notes)
	}
	for _, u := range site.seen {
		if !strings.HasPrefix(u, "http://a.test/") && !strings.HasPrefix(u, "https://b.test/") {
			t.Errorf("the browser requested %s", u)
		}
	}
}

// TestBusyPage opens a page that computes for a longer time than PageIdle before it
// sends another request.
func TestBusyPage(t *testing.T) {
	b := open(t, browser.Options{PageIdle: 500 * time.Millisecond})
	site := &pages{texts: map[string]string{
		"http://a.test/":        `<script>onload = () => setTimeout(() => { const end = Date.now() + 2000; while (Date.now() < end); setTimeout(() => fetch("/late.js"), 100) })</script>`,
		"http://a.test/late.js": "",
	}}
	if _, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: site}); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(site.seen, "http://a.test/late.js") {
		t.Errorf("the page was closed before its last request: %q", site.seen)
	}
}

// TestFrames opens pages with frames of other sites. Each site has a process of its
// own.
func TestFrames(t *testing.T) {
	long := open(t, browser.Options{PageIdle: 100 * time.Millisecond, PageTime: time.Minute})
	short := open(t, browser.Options{PageIdle: 100 * time.Millisecond, PageTime: 3 * time.Second})
	const maxSites = 20 // with the page
	frames := func(from, to int) string {
		var text strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&text, `<iframe src="http://%c%c.test/"></iframe>`, 'a'+i/26, 'a'+i%26)
		}
		return text.String()
	}
	for _, c := range []struct {
		name, page, frame string // the texts of the page and of each frame
		read              int
		note              string
	}{
		{"as many sites as are allowed", frames(0, maxSites-1), "fine", maxSites, ""},
		{"too many sites", frames(0, 60), "fine", maxSites, "frames were not loaded, because a page has at most 200 documents of 20 sites"},
		{"one site", `<iframe src="http://x.aa.test/"></iframe>` + strings.Repeat(`<iframe src="http://aa.test/"></iframe>`, 30), "fine", 32, ""},
		{"frames in frames", frames(0, 10), frames(26, 40), 0, "frames were not loaded, because a page has at most 200 documents of 20 sites"},
		{"a frame that does not answer", `<iframe src="http://hung.test/"></iframe>` + frames(0, 3), "fine", 4, "a frame was not read, because its scripts do not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := long
			if strings.Contains(c.page, "hung") {
				b = short // the page is never loaded
			}
			var mu sync.Mutex
			hosts := map[string]bool{}
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				hosts[strings.TrimPrefix(r.URL.Host, "x.")] = true
				mu.Unlock()
				w.Header().Set("Content-Type", "text/html")
				switch r.URL.Host {
				case "page.test":
					fmt.Fprint(w, c.page)
				case "hung.test":
					fmt.Fprint(w, "<script>onload = () => { while (1) {} }</script>")
				default:
					text := "fine"
					if strings.HasPrefix(r.URL.Host, "a") {
						text = c.frame
					}
					fmt.Fprint(w, text)
				}
			})
			p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://page.test/", Handler: h, Navigate: func(string, bool) {}})
			if err != nil {
				t.Fatal(err)
			}
			read := 0
			for _, f := range p.Frames {
				if strings.Contains(f.HTML, "fine") || f.URL == "http://page.test/" {
					read++
				}
			}
			if c.read > 0 && read != c.read || len(hosts) > maxSites {
				t.Errorf("%d frames were read, want %d; %d sites were requested", read, c.read, len(hosts))
			}
			if c.note != "" && !slices.Contains(p.Notes, c.note) || c.note == "" && len(p.Notes) > 0 {
				t.Errorf("notes: %q, want %q", p.Notes, c.note)
			}
		})
	}
}

// TestHostilePages opens pages that do not let the browser read them, or that
// leave. The visit after them succeeds.
func TestHostilePages(t *testing.T) {
	o := browser.Options{Tabs: 4, PageTime: 2 * time.Minute, PageIdle: 100 * time.Millisecond, Behaviors: []string{"scroll"}}
	long := open(t, o)
	o.PageTime = 3 * time.Second // for the pages that never end
	short := open(t, o)
	for _, c := range []struct {
		name, text string
		err        error
		note       string
		link       string
		endless    bool
	}{
		{name: "endless loop", text: "<script>while (1) {}</script>", err: browser.ErrHung, endless: true},
		{name: "endless loop later", text: "<script>onload = () => { while (1) {} }</script>", err: browser.ErrHung, endless: true},
		{name: "alert", text: "<script>alert(1); alert(2); document.write('done')</script>", note: "a dialog (alert) was accepted"},
		{name: "beforeunload", text: "<script>onbeforeunload = e => { e.preventDefault(); return 'x' }</script>"},
		{name: "popup", text: "<script>open('/popup')</script>"},
		{name: "leaves at once", text: "<script>location = '/other'</script>", note: "the page was kept, although a script opened another page", link: "http://a.test/other"},
		{name: "reloads", text: "<script>location.reload()</script>", note: "the page was kept, although a script opened another page", link: "http://a.test/"},
		{name: "download", text: "<script>const a = document.createElement('a'); a.href = '/x.bin'; a.download = 'x'; a.click()</script>"},
		{name: "endless scrolling", text: "<script>onload = onscroll = () => { document.body.style.height = document.body.scrollHeight + 5000 + 'px' }</script>",
			note: "scrolling was ended before the end of the page"},
		{name: "never loaded", text: `<img src="/slow">`, note: "the page was not loaded in 3s", endless: true},
		{name: "print", text: "<script>print(); document.write('done')</script>"},
		{name: "file", text: `<iframe src="file:///etc/passwd"></iframe>`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := long
			if c.endless {
				b = short
			}
			site := &pages{texts: map[string]string{"http://a.test/": c.text, "http://a.test/x.bin": "x"}}
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/slow" {
					<-r.Context().Done()
					return
				}
				site.ServeHTTP(w, r)
			})
			var mu sync.Mutex
			var links []string
			p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: h, Navigate: func(u string, _ bool) {
				mu.Lock()
				defer mu.Unlock()
				links = append(links, u)
			}})
			if !errors.Is(err, c.err) || err == nil && c.err != nil {
				t.Fatalf("error: %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			if c.note != "" && !slices.Contains(p.Notes, c.note) {
				t.Errorf("notes: %q, want %q", p.Notes, c.note)
			}
			if c.link != "" && !slices.Contains(links, c.link) {
				t.Errorf("links: %q", links)
			}
			if strings.Contains(p.Frames[0].HTML, "root:") || len(p.Frames) > 1 && strings.Contains(p.Frames[1].HTML, "root:") {
				t.Errorf("the page read a file: %+v", p.Frames)
			}
		})
	}
}

// TestCrashes opens a page that ends the process of the page, and one that ends
// the browser. The browser opens the second page twice.
func TestCrashes(t *testing.T) {
	b := open(t, browser.Options{PageTime: 10 * time.Second, PageIdle: 100 * time.Millisecond})
	ok := &pages{texts: map[string]string{"http://a.test/": "fine"}}
	visit := func(h http.Handler, restart func()) error {
		_, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: h, Navigate: func(string, bool) {}, Restart: restart})
		return err
	}
	if err := visit(ok, nil); err != nil {
		t.Fatal(err)
	}
	var killed, restarts atomic.Int64
	kill := func(times int64) http.Handler {
		killed.Store(0)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if killed.Add(1) <= times {
				browser.Kill(b)
			}
			ok.ServeHTTP(w, r)
		})
	}
	if err := visit(kill(1), func() { restarts.Add(1) }); err != nil || restarts.Load() != 1 {
		t.Errorf("browser killed once: %v, %d restarts", err, restarts.Load())
	}
	if err := visit(kill(2), func() { restarts.Add(1) }); !errors.Is(err, browser.ErrDied) {
		t.Errorf("browser killed twice: %v", err)
	}
	crash := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<img src=x>")
			return
		}
		browser.KillPage(b)
		<-r.Context().Done()
	})
	if err := visit(crash, nil); !errors.Is(err, browser.ErrCrashed) {
		t.Errorf("page crashed: %v", err)
	}
	full := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, `<script>const all = []; while (all.length < 20) { all.push(new Uint8Array(1 << 29).fill(1)) }
			document.write('used 10 GiB')</script>`)
	})
	// The page crashes, its script gets an exception, or it still fills its memory.
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: full})
	if err == nil && strings.Contains(p.Frames[0].HTML, ">used") || err != nil && !errors.Is(err, browser.ErrCrashed) && !errors.Is(err, browser.ErrHung) {
		t.Errorf("page that needs 10 GiB: %+v, %v", p, err)
	}
	if err := visit(ok, nil); err != nil {
		t.Errorf("after the crash: %v", err)
	}
}
