// Package browser opens web pages in Chromium. The browser has no network of its
// own: it reaches only a proxy of this package, which passes each request to a
// handler of the caller. The handler decides whether and how the request is sent.
//
//	b, err := browser.Open(ctx, browser.Options{})
//	...
//	defer b.Close()
//	page, err := b.Visit(ctx, &browser.Visit{URL: "https://example.org/", Handler: h})
//
// On Linux, the browser runs in a network namespace without any interface but
// loopback. On other systems, its isolation rests on the flags with which it is
// started. Package internal/base/chromium describes both.
package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/wire/cdp"
	"github.com/anyurl/fetch/internal/wire/mitm"
)

// Options configures a [Browser]. The zero value is ready to use.
type Options struct {
	Path     string        // program; "" means an installed Chromium
	Tabs     int           // pages that are open at the same time; 0 means 2
	PageTime time.Duration // time limit for loading a page and for its Behaviors; 0 means 90 seconds
	PageIdle time.Duration // time without requests after which a page has been loaded; 0 means one second

	Behaviors []string // actions on each page after it has loaded, from AllBehaviors
	Copies    []string // copies of each page, from AllCopies

	// Profile is a directory with user data, such as the cookies of a login. ""
	// means that each page is opened without cookies. The browser does not store
	// the cookies that a visit sets.
	Profile string

	Agent   string            // User-Agent; "" means the one of the browser and Product
	Product string            // added to the User-Agent of the browser, such as "fetch/1.0"
	Child   bool              // if true, the function main of this program calls the function Child first
	Note    func(text string) // receives the restarts of the browser; may be nil
}

// AllBehaviors returns the valid values of Options.Behaviors:
//   - scroll scrolls to the end of the page, which loads the images and entries
//     that appear only then.
//   - media plays videos and sounds without sound for some seconds.
//   - details opens the parts of the page that are folded.
//   - more presses buttons such as "Show more".
func AllBehaviors() []string { return []string{"scroll", "media", "details", "more"} }

// AllCopies returns the valid values of Options.Copies.
func AllCopies() []string { return []string{"screenshot", "pdf", "text"} }

// A Browser is a running browser. If its process ends, the next visit starts
// another one. It is safe for concurrent use.
type Browser struct {
	o    Options
	ca   *mitm.CA
	free chan int // numbers of the tabs that have no visit

	mu      sync.Mutex
	current *instance
	closed  bool
}

// Open starts a browser. The caller must call Close.
func Open(ctx context.Context, o Options) (*Browser, error) {
	for _, list := range []struct {
		names, known []string
		what         string
	}{{o.Behaviors, AllBehaviors(), "behavior"}, {o.Copies, AllCopies(), "copy"}} {
		for _, name := range list.names {
			if !slices.Contains(list.known, name) {
				return nil, fmt.Errorf("browser: unknown %s %q: use %s", list.what, name, strings.Join(list.known, ", "))
			}
		}
	}
	o.Tabs = cmp.Or(max(o.Tabs, 0), 2)
	o.PageTime, o.PageIdle = cmp.Or(max(o.PageTime, 0), 90*time.Second), cmp.Or(max(o.PageIdle, 0), time.Second)
	ca, err := mitm.NewCA(time.Now())
	if err != nil {
		return nil, err
	}
	b := &Browser{o: o, ca: ca, free: make(chan int, o.Tabs)}
	for i := range o.Tabs {
		b.free <- i
	}
	if _, err := b.instance(ctx); err != nil {
		return nil, fmt.Errorf("browser: %w", err)
	}
	return b, nil
}

// Close kills the browser. Visits that are in progress return an error.
func (b *Browser) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed = true; b.current != nil {
		b.current.close()
	}
}

// Isolated reports whether the browser has no other network than the proxy.
func (b *Browser) Isolated() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current.process.Isolated
}

// UserAgent returns the value of the User-Agent field of the requests.
func (b *Browser) UserAgent() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.current.agent
}

// instance returns the running browser. If it has ended, instance starts another
// one.
func (b *Browser) instance(ctx context.Context) (*instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, errors.New("the browser was closed")
	case b.current != nil && !b.current.ended():
		return b.current, nil
	case b.current != nil:
		b.current.close()
		if b.o.Note != nil {
			b.o.Note("the browser has ended and is started again")
		}
	}
	in, err := b.start(ctx)
	if err != nil {
		return nil, err
	}
	b.current = in
	return in, nil
}

// A Visit describes a page to open.
type Visit struct {
	URL     string
	Handler http.Handler // answers the requests of the page; the URLs of the requests are absolute

	// If Navigate is nil, the page may open other pages in its tab. Otherwise the
	// first page stays, and Navigate is called with the URLs of the other pages. It
	// may be called concurrently. If ofPage is false, a frame with a document of
	// another origin may have opened the URL.
	Navigate func(url string, ofPage bool)

	// Restart is called before the browser opens the page again, because the
	// process of the browser has ended. It may be nil.
	Restart func()
}

// A Page is the result of a [Visit].
type Page struct {
	Frames  []Frame  // the frames of the page at the end; the first is the page itself
	Text    string   // the text that the page shows, if a copy of it was required
	CutText bool     // Text is the start of a text that is too long
	Copies  []Copy   // the copies that Options.Copies requires
	Notes   []string // actions that the browser denied, timeouts and cut documents; without text of the page
}

// A Frame is a document in a page.
type Frame struct {
	URL    string
	Origin string // such as "https://example.org"; "null" if it is unknown, as in a sandbox
	HTML   string // the elements of the document after its scripts have changed them
	Cut    bool   // HTML is the start of a document that is too long
}

// A Copy is a picture or a text of a page.
type Copy struct {
	Name  string // a value of AllCopies
	Media string
	Data  []byte
	cut   bool // Data is the start of a text that is too long
}

// Errors of Visit. The result is nil.
var (
	// ErrHung means that the scripts of the page did not let the browser read it.
	ErrHung = errors.New("the scripts of the page do not end")
	// ErrCrashed means that the page ended the process that showed it.
	ErrCrashed = errors.New("the page crashed")
	// ErrStart means that the browser could not be started.
	ErrStart = errors.New("the browser does not start")
	// ErrDied means that the browser ended twice while the page was open.
	ErrDied = errors.New("the browser ended while the page was open")
)

// Visit opens a page in a new tab, without the data of other visits. It
// waits until the page was loaded, carries out the behaviors, and returns the
// page. When it returns, the page is closed and no request of the page runs.
func (b *Browser) Visit(ctx context.Context, v *Visit) (*Page, error) {
	var tab int
	select {
	case tab = <-b.free:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { b.free <- tab }()
	for again := false; ; again = true {
		in, err := b.instance(ctx)
		if err != nil {
			return nil, err
		}
		result, err := in.visit(ctx, in.tabs[tab], v)
		if err == nil || ctx.Err() != nil {
			return result, cmp.Or(context.Cause(ctx), err)
		}
		if in.ended() || errors.Is(err, cdp.ErrClosed) {
			err = ErrDied
		}
		if !errors.Is(err, ErrDied) || again {
			return nil, err
		}
		if v.Restart != nil {
			v.Restart()
		}
	}
}
