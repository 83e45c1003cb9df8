package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/chromium"
	"github.com/anyurl/fetch/internal/wire/cdp"
	"github.com/anyurl/fetch/internal/wire/mitm"
)

// Time limits. The browser does not depend on the network for these calls.
const (
	startTime = time.Minute      // for the start of the browser on a busy machine
	callTime  = 10 * time.Second // for a call that needs no page
	copyTime  = 30 * time.Second // for a copy of a page

	readTime    = 10 * time.Second // for reading the document of a frame in the page
	readAllTime = time.Minute      // for reading all documents of a page
)

// An instance is a process of the browser, with the proxies of its tabs.
type instance struct {
	o       *Options
	process *chromium.Process
	conn    *cdp.Conn
	agent   string            // User-Agent
	cookies []json.RawMessage // of the profile
	tabs    []*tab
	stop    context.CancelFunc // ends the proxies
	running sync.WaitGroup     // the proxies and the connection

	mu       sync.Mutex
	sessions map[string]*page // by the session of a page or of one of its frames
	contexts map[string]*page // by browser context
}

// start starts the browser and the proxies.
func (b *Browser) start(ctx context.Context) (*instance, error) {
	process, err := chromium.Start(chromium.Options{
		Path: b.o.Path, Listeners: b.o.Tabs, Profile: b.o.Profile, Child: b.o.Child, KeyHash: b.ca.KeyHash(),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	in := &instance{o: &b.o, process: process, sessions: map[string]*page{}, contexts: map[string]*page{}}
	in.conn = cdp.New(in.event)
	serving, stop := context.WithCancel(context.Background())
	in.stop = stop
	in.running.Go(func() { in.conn.Run(process.Out, process.In) })
	for _, l := range process.Listeners {
		t := &tab{in: in, proxy: chromium.Proxy(l)}
		in.tabs = append(in.tabs, t)
		server := &mitm.Server{CA: b.ca, Handler: t}
		in.running.Go(func() { server.Serve(serving, l, 0) })
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := in.prepare(ctx); err != nil {
		in.close()
		return nil, fmt.Errorf("%w: %w: %s", ErrStart, err, process.Output())
	}
	return in, nil
}

// prepare waits until the browser answers and reads its settings.
func (in *instance) prepare(ctx context.Context) error {
	var version struct{ UserAgent string }
	if err := in.conn.Call(ctx, "", "Browser.getVersion", nil, &version); err != nil {
		return err
	}
	in.agent = cmp.Or(in.o.Agent, strings.TrimSpace(strings.ReplaceAll(version.UserAgent, "HeadlessChrome", "Chrome")+" "+in.o.Product))
	if in.o.Profile != "" {
		var stored struct{ Cookies []json.RawMessage }
		if err := in.conn.Call(ctx, "", "Storage.getCookies", nil, &stored); err != nil {
			return err
		}
		in.cookies = stored.Cookies
	}
	return in.conn.Call(ctx, "", "Target.setDiscoverTargets", map[string]any{
		"discover": true, "filter": []map[string]any{{"type": "page"}},
	}, nil)
}

// ended reports whether the browser has ended.
func (in *instance) ended() bool {
	select {
	case <-in.process.Ended():
		return true
	case <-in.conn.Ended():
		return true
	default:
		return false
	}
}

// close kills the browser and ends the proxies.
func (in *instance) close() {
	in.stop()
	in.process.Close()
	in.running.Wait()
}

// call calls a method of the browser that needs no page. If the browser does not
// answer in time, call kills it, and another process replaces it.
func (in *instance) call(ctx context.Context, method string, params, result any) error {
	limited, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	err := in.conn.Call(limited, "", method, params, result)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		in.process.Close()
		return ErrDied
	}
	return err
}

// event passes an event to its page. It is called for one event at a time and
// does not wait.
func (in *instance) event(e cdp.Event) {
	in.mu.Lock()
	p := in.sessions[e.Session]
	in.mu.Unlock()
	if p != nil {
		p.event(e)
		return
	}
	var t struct {
		TargetID   string
		TargetInfo struct{ TargetID, BrowserContextID string }
	}
	switch e.Method {
	case "Target.targetCreated":
		e.Decode(&t)
		in.mu.Lock()
		p = in.contexts[t.TargetInfo.BrowserContextID]
		in.mu.Unlock()
		if p != nil {
			p.targetCreated(t.TargetInfo.TargetID)
		}
	case "Target.targetCrashed":
		e.Decode(&t)
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, p := range in.contexts {
			p.targetCrashed(t.TargetID)
		}
	}
}

// addSession passes the events of a session to p.
func (in *instance) addSession(id string, p *page) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.sessions[id] = p
}

// addContext passes the events of a browser context to p.
func (in *instance) addContext(id string, p *page) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.contexts[id] = p
}

// remove removes the sessions and the browser context of p.
func (in *instance) remove(p *page) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.contexts, p.context)
	for id, other := range in.sessions {
		if other == p {
			delete(in.sessions, id)
		}
	}
}
