package browser

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/wire/cdp"
)

// Limits for the data of a page that this package stores.
const (
	maxNotes    = 20
	maxSessions = 100 // frames in other processes
)

// pollInterval is the time between two checks whether the page is idle.
const pollInterval = 50 * time.Millisecond

// busyTime is the time after which a page that has not answered is busy with its
// scripts.
const busyTime = 500 * time.Millisecond

// nextIdle is an expression that waits until the page has no other tasks. A page
// with an animation may have tasks at all times.
const nextIdle = "new Promise(done => requestIdleCallback(() => done(), {timeout: 200}))"

// A page is a page that is open.
type page struct {
	in      *instance
	v       *Visit
	ctx     context.Context // ends with the visit; its cause is the error of the visit
	cancel  context.CancelCauseFunc
	context string // browser context
	target  string
	session string
	traffic *traffic
	tasks   sync.WaitGroup // goroutines that answer events

	loaded chan struct{} // closed by the first load event

	mu       sync.Mutex
	first    document // first request for the page, or zero
	foreign  bool     // a frame may have a document of another origin
	targets  int      // pages in the browser context
	frames   []string // sessions of frames in other processes
	notes    []string
	isLoaded bool
	ended    bool // if true, no task starts
}

// visit opens a page in a tab.
func (in *instance) visit(ctx context.Context, t *tab, v *Visit) (*Page, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	p := &page{in: in, v: v, ctx: ctx, cancel: cancel, loaded: make(chan struct{})}
	p.traffic = newTraffic(ctx, v.Handler, p.note)
	t.set(p.traffic)
	defer p.close(t)
	if err := p.open(ctx, t); err != nil {
		return nil, p.cause(err)
	}
	end := time.Now().Add(in.o.PageTime)
	p.load(ctx, end)
	p.behave(ctx, end)
	result, err := p.read(ctx)
	if err != nil {
		return nil, p.cause(err)
	}
	return result, nil
}

// cause returns the error that explains err, which a call returned.
func (p *page) cause(err error) error {
	if cause := context.Cause(p.ctx); cause != nil {
		return cause
	}
	return err
}

// close closes the page and waits for the end of its requests.
func (p *page) close(t *tab) {
	p.traffic.close()
	if p.context != "" {
		p.in.call(context.WithoutCancel(p.ctx), "Target.disposeBrowserContext", map[string]any{"browserContextId": p.context}, nil)
	}
	p.cancel(nil)
	p.in.remove(p)
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.tasks.Wait()
	<-p.traffic.idle
	t.set(nil)
}

// open creates a browser context with the proxy of the tab and opens the page
// in it.
func (p *page) open(ctx context.Context, t *tab) error {
	var made struct{ BrowserContextID, TargetID, SessionID string }
	err := p.in.call(ctx, "Target.createBrowserContext", map[string]any{
		"disposeOnDetach": true, "proxyServer": t.proxy, "proxyBypassList": "<-loopback>",
	}, &made)
	if err != nil {
		return err
	}
	p.context = made.BrowserContextID
	p.in.addContext(p.context, p)
	calls := []struct {
		method string
		params any
	}{
		{"Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": p.context}},
		{"Storage.setCookies", map[string]any{"cookies": p.in.cookies, "browserContextId": p.context}},
		{"Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": p.context, "newWindow": true, "width": 1280, "height": 800}},
	}
	for _, c := range calls {
		if c.method == "Storage.setCookies" && len(p.in.cookies) == 0 {
			continue
		}
		if err := p.in.call(ctx, c.method, c.params, &made); err != nil {
			return err
		}
	}
	p.target = made.TargetID
	if err := p.in.call(ctx, "Target.attachToTarget", map[string]any{"targetId": p.target, "flatten": true}, &made); err != nil {
		return err
	}
	p.session = made.SessionID
	p.in.addSession(p.session, p)
	return p.navigate(ctx)
}

// autoAttach selects the frames in other processes.
var autoAttach = map[string]any{
	"autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true,
	"filter": []map[string]any{{"type": "iframe"}, {"exclude": true}},
}

// navigate opens the URL of the visit.
func (p *page) navigate(ctx context.Context) error {
	for _, c := range []struct {
		method string
		params any
	}{
		{"Page.enable", nil},
		{"Target.setAutoAttach", autoAttach},
		{"Emulation.setUserAgentOverride", map[string]any{"userAgent": p.in.agent}},
		{"Fetch.enable", map[string]any{"patterns": []map[string]any{{"urlPattern": "*", "resourceType": "Document"}}}},
	} {
		if err := p.call(ctx, c.method, c.params, nil); err != nil {
			return err
		}
	}
	p.task(func() { // the call returns when the response has begun
		var opened struct{ ErrorText string }
		p.call(p.ctx, "Page.navigate", map[string]any{"url": p.v.URL}, &opened)
		if opened.ErrorText != "" {
			p.cancel(errors.New("the browser does not open the page: " + opened.ErrorText))
		}
	})
	return nil
}

// call calls a method of the page.
func (p *page) call(ctx context.Context, method string, params, result any) error {
	return p.in.conn.Call(ctx, p.session, method, params, result)
}

// load waits until the page was loaded and sends no further requests, at most
// until the time end.
func (p *page) load(ctx context.Context, end time.Time) {
	limit := time.NewTimer(time.Until(end))
	defer limit.Stop()
	select {
	case <-p.loaded:
	case <-ctx.Done():
		return
	case <-p.in.conn.Ended():
		return
	case <-limit.C:
		p.note("the page was not loaded in " + p.in.o.PageTime.String())
		return
	}
	p.waitIdle(ctx, end)
}

// waitIdle waits until no request was sent for Options.PageIdle and the page
// answers, at most for a third of Options.PageTime. A page that executes scripts
// may send requests afterwards.
func (p *page) waitIdle(ctx context.Context, end time.Time) {
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	var answered time.Time // when the page last answered after a delay
	for last := time.Now().Add(p.in.o.PageTime / 3); time.Now().Before(last) && time.Now().Before(end); {
		if min(p.traffic.quiet(), time.Since(answered)) >= p.in.o.PageIdle {
			asked := time.Now()
			err := p.finishTasks(ctx)
			quick := time.Since(asked) < busyTime
			if err != nil || quick && p.traffic.quiet() >= p.in.o.PageIdle {
				return // after an error, read returns an error too
			}
			if !quick {
				answered = time.Now()
			}
		}
		select {
		case <-poll.C:
		case <-p.in.conn.Ended():
			return
		case <-ctx.Done():
			return
		}
	}
}

// finishTasks waits until the page has executed the tasks that were queued.
func (p *page) finishTasks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	f, err := p.frame(ctx, p.session, p.target)
	if err != nil {
		return err
	}
	return p.evaluate(ctx, f, nextIdle, nil)
}

// note adds a text to the notes of the result, once. The text contains no data
// from the page.
func (p *page) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.notes) < maxNotes && !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// targetCreated closes a page in the browser context that the visit did not open,
// such as a popup.
func (p *page) targetCreated(id string) {
	p.mu.Lock()
	p.targets++
	first := p.targets == 1
	p.mu.Unlock()
	if first {
		return
	}
	p.note("a popup was closed")
	p.task(func() { p.in.call(p.ctx, "Target.closeTarget", map[string]any{"targetId": id}, nil) })
}

func (p *page) targetCrashed(id string) {
	if id == p.target {
		p.cancel(ErrCrashed)
	}
}

// task runs f in a goroutine, unless the visit has ended.
func (p *page) task(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.tasks.Go(f)
	}
}

// event handles an event of the page or of one of its frames.
func (p *page) event(e cdp.Event) {
	switch e.Method {
	case "Page.loadEventFired":
		if e.Session == p.session {
			p.setLoaded()
		}
	case "Page.frameStoppedLoading": // also if a script tried to open another page
		var f struct{ FrameID string }
		if e.Decode(&f); f.FrameID == p.target {
			p.setLoaded()
		}
	case "Fetch.requestPaused":
		var d document // without the body of the request, which can be large
		if json.Unmarshal(e.Params, &d) == nil {
			p.task(func() { p.documentRequested(d) })
		}
	case "Page.javascriptDialogOpening":
		var d struct{ Type string }
		e.Decode(&d)
		p.dialogOpened(d.Type, e.Session)
	case "Page.downloadWillBegin":
		p.note("a download was canceled")
		p.link(e.Params)
	case "Page.windowOpen":
		p.link(e.Params)
	case "Target.attachedToTarget":
		p.frameAttached(e)
	}
}

// setLoaded records that the page was loaded.
func (p *page) setLoaded() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first != (document{}) && !p.isLoaded {
		p.isLoaded = true
		close(p.loaded)
	}
}

// dialogOpened accepts a dialog, which would stop the scripts of the page.
func (p *page) dialogOpened(kind, session string) {
	switch kind {
	case "alert", "confirm", "prompt", "beforeunload":
	default:
		kind = "unknown"
	}
	p.note("a dialog (" + kind + ") was accepted")
	p.task(func() {
		p.in.conn.Call(p.ctx, session, "Page.handleJavaScriptDialog", map[string]any{"accept": true}, nil)
	})
}

// jsonText returns v as JSON.
func jsonText(v any) string {
	b, _ := json.Marshal(v) // never fails for these types
	return string(b)
}

// frameAttached adds the session of a frame that has its own process.
func (p *page) frameAttached(e cdp.Event) {
	var a struct{ SessionID string }
	e.Decode(&a)
	p.mu.Lock()
	p.foreign = true
	full := len(p.frames) >= maxSessions
	if !full {
		p.frames = append(p.frames, a.SessionID)
	}
	p.mu.Unlock()
	if full {
		p.note(tooManyFrames)
	}
	if full || a.SessionID == "" {
		return
	}
	p.in.addSession(a.SessionID, p)
	p.task(func() {
		p.in.conn.Call(p.ctx, a.SessionID, "Page.enable", nil, nil)
		p.in.conn.Call(p.ctx, a.SessionID, "Target.setAutoAttach", autoAttach, nil)
	})
}
