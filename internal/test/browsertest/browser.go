// Package browsertest opens pages in a headless Chromium for tests. Only tests
// may import this package.
//
//	b := browsertest.Start(t, server.Listener.Addr().String())
//	p := b.Open(server.URL)
//	p.Wait("document.querySelector('h1').textContent == 'hello'")
//
// Chromium runs in a separate network namespace, in which it reaches only the
// addresses that the test passes to [Start]. Tests that use this package need
// root privileges, and they are skipped on other systems than Linux.
package browsertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/anyurl/fetch/internal/test/peer"
)

const (
	timeout      = 5 * time.Minute       // time after which an operation of a browser counts as hung
	retryTime    = 20 * time.Second      // time after which an ignored click is repeated
	pollInterval = 20 * time.Millisecond // time between two evaluations of a condition
)

// ForeignHost is a host name that the browser resolves to 127.0.0.1. Tests use
// it as the name of a hostile site, as in a DNS rebinding attack.
const ForeignHost = "foreign.example"

// A Browser is a running Chromium. Its profile and its downloads are deleted at
// the end of the test.
type Browser struct {
	t         *testing.T
	ctx       context.Context
	downloads string // directory of the downloaded files, named by their GUIDs
}

// Start starts Chromium (Debian package chromium). The browser can connect only
// to addrs, which are loopback addresses in the form host:port. At the end of
// the test, the browser is killed.
func Start(t *testing.T, addrs ...string) *Browser {
	t.Helper()
	return start(t, addrs, chromedp.Flag("no-proxy-server", true))
}

// StartWithProxy starts Chromium with the proxy at the loopback address addr,
// which is its only network. The browser trusts the certificates of the proxy
// that are signed by a key with the given hash, as in the flag
// ignore-certificate-errors-spki-list.
func StartWithProxy(t *testing.T, addr, keyHash string) *Browser {
	t.Helper()
	return start(t, []string{addr}, chromedp.ProxyServer("http://"+addr), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
		chromedp.Flag("ignore-certificate-errors-spki-list", keyHash))
}

func start(t *testing.T, addrs []string, network ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	program := peer.Need(t, "chromium", "chromium")
	enter := peer.Need(t, "nsenter", "util-linux")
	peer.NeedRoot(t, "chromium in a network namespace")
	namespace, err := newNamespace(t, addrs)
	if err != nil {
		t.Fatalf("browsertest: network namespace: %v", err)
	}
	home := t.TempDir()
	b := &Browser{t: t, downloads: t.TempDir()}
	var output strings.Builder
	options := slices.Concat(network, chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(program), chromedp.UserDataDir(home), chromedp.Env("HOME=" + home),
		chromedp.DisableGPU, chromedp.CombinedOutput(&output),
		chromedp.Flag("log-level", "3"), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP "+ForeignHost+" 127.0.0.1 , MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE localhost , EXCLUDE *.localhost"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			cmd.Path = enter
			cmd.Args = append([]string{enter, "--net=" + namespace, "--", program}, cmd.Args[1:]...)
			killWithParent(cmd)
		})})
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	b.ctx, _ = chromedp.NewContext(ctx, chromedp.WithErrorf(t.Logf))
	t.Cleanup(func() {
		cancel() // kills the browser and waits until it has exited
		removeAll(t, home)
		if t.Failed() {
			t.Logf("browsertest: chromium: %s", output.String())
		}
	})
	if err := chromedp.Do(b.ctx); err != nil {
		t.Fatalf("browsertest: start: %v", err)
	}
	withEvents := true
	_, err = chromedp.CallBrowser(b.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllowAndName, DownloadPath: b.downloads, EventsEnabled: &withEvents})
	if err != nil {
		t.Fatalf("browsertest: downloads: %v", err)
	}
	return b
}

// removeAll deletes the profile of a browser that has ended. Child processes of
// the browser may still create files for a short time.
func removeAll(t *testing.T, dir string) {
	for range 100 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(pollInterval)
	}
	t.Logf("browsertest: %s could not be removed", dir)
}

// A Page is a tab of a browser. If the test fails, its console is printed.
type Page struct {
	t       *testing.T
	ctx     context.Context
	browser *Browser
	calls   int // number of calls of Errors

	mu      sync.Mutex
	console []chromedp.ConsoleMessage
}

// Open opens a URL in a new tab and waits until the page has loaded.
func (b *Browser) Open(url string) *Page {
	b.t.Helper()
	p := &Page{t: b.t, browser: b}
	p.ctx, _ = chromedp.NewContext(b.ctx) // the tab is closed with the browser
	if err := chromedp.Do(p.ctx); err != nil {
		b.t.Fatalf("browsertest: new tab: %v", err)
	}
	messages := chromedp.Console(p.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the browser has ended
			}
			p.mu.Lock()
			p.console = append(p.console, m)
			p.mu.Unlock()
		}
	}()
	b.t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, m := range p.console {
			if b.t.Failed() {
				b.t.Logf("browsertest: %s: %s", m.URL, m)
			}
		}
	})
	p.Go(url)
	return p
}

// Errors returns the errors in the console: exceptions of scripts, failed
// requests and violations of the content security policy.
func (p *Page) Errors() (errors []string) {
	p.t.Helper()
	p.calls++
	end := fmt.Sprintf("browsertest: end of call %d of Errors", p.calls)
	p.Eval("console.debug('" + end + "')")
	for limit := time.Now().Add(timeout); ; time.Sleep(pollInterval) {
		p.mu.Lock()
		console := slices.Clone(p.console)
		p.mu.Unlock()
		if last := len(console) - 1; last >= 0 && console[last].Text == end {
			for _, m := range console {
				if m.IsException() || m.Type == chromedp.ConsoleError {
					errors = append(errors, m.Text)
				}
			}
			return errors
		}
		if time.Now().After(limit) {
			p.t.Fatalf("browsertest: the console ends with %v", console)
		}
	}
}

// Go opens a URL in the tab and waits until the page has loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		p.t.Fatalf("browsertest: %s: %v", url, err)
	}
}

// Show is like Go, but also accepts a URL that the browser downloads or whose
// page leads to another page at once.
func (p *Page) Show(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil && !strings.Contains(err.Error(), "net::ERR_") {
		p.t.Fatalf("browsertest: %s: %v", url, err)
	}
}

// Eval returns the value of a JavaScript expression as text. If the value is a
// promise, Eval waits for its result.
func (p *Page) Eval(expression string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("Promise.resolve("+expression+").then(String)", chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("browsertest: %s: %v", expression, err)
	}
	return text
}

// Wait waits until a JavaScript expression is true. The tab may open other
// pages in the meantime. An expression that throws an exception is not yet
// true. If the time limit has passed, the test fails with the text of the page.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	if err := p.wait(expression, timeout); err != nil {
		p.t.Fatalf("browsertest: %s: %v\npage: %s", expression, err, p.Eval("document.documentElement.outerHTML"))
	}
}

// wait is like Wait, but returns an error after the given time.
func (p *Page) wait(expression string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	safe := "(async () => { try { return Boolean(await (" + expression + ")) } catch { return false } })()"
	for {
		// The call fails if the tab opens another page during the call.
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](safe, chromedp.EvalAwaitPromise))
		if ok && err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		time.Sleep(pollInterval)
	}
}

// Click clicks an element, which is given as a JavaScript expression, and waits
// until another expression is true. On a busy machine, Chromium can ignore a click
// on a page that it has not drawn yet. Click then clicks again if the element is
// still there.
func (p *Page) Click(element, until string) {
	p.t.Helper()
	p.Wait(element + " != null")
	p.Eval("void " + element + ".click()")
	for range 2 {
		if p.wait(until, retryTime) == nil {
			return
		}
		p.wait("("+element+"?.click(), true)", retryTime)
	}
	p.Wait(until)
}

// Download evaluates a JavaScript expression that starts a download. It waits
// for the end of the download and returns its name and its content. On a busy
// machine, Chromium can ignore a click on a page that it has not drawn yet.
// Download then evaluates the expression again.
func (p *Page) Download(expression string) (name string, content []byte) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	progress := chromedp.BrowserEvents(ctx, browser.DownloadProgress)
	var guid string
	for guid == "" {
		if ctx.Err() != nil {
			p.t.Fatalf("browsertest: no download: %s", expression)
		}
		guid, name = p.startDownload(ctx, expression)
	}
	for e, err := range progress {
		if err != nil || e.GUID == guid && e.State == browser.DownloadProgressStateCanceled {
			p.t.Fatalf("browsertest: download of %s: %s, %v", name, e.State, err)
		}
		if e.GUID != guid || e.State != browser.DownloadProgressStateCompleted {
			continue
		}
		content, err = os.ReadFile(filepath.Join(p.browser.downloads, e.GUID))
		if err != nil {
			p.t.Fatalf("browsertest: download: %v", err)
		}
		break
	}
	return name, content
}

// startDownload evaluates an expression and waits for the start of a download. It
// returns the identifier and the name of the download, or "" after
// retryTime.
func (p *Page) startDownload(ctx context.Context, expression string) (guid, name string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, retryTime)
	defer cancel()
	begun := chromedp.BrowserEvents(ctx, browser.DownloadWillBegin)
	p.Eval(expression)
	for e, err := range begun {
		if err != nil {
			break
		}
		return e.GUID, e.SuggestedFilename
	}
	return "", ""
}

// SetWidth sets the width of the window in CSS pixels, as on a telephone.
func (p *Page) SetWidth(pixels int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	size := emulation.SetDeviceMetricsOverrideParams{Width: int64(pixels), Height: 800, DeviceScaleFactor: 1}
	if _, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, size); err != nil {
		p.t.Fatalf("browsertest: width %d: %v", pixels, err)
	}
}

// Press presses a key of the keyboard, such as "\t" for the tabulator or "\r"
// for enter.
func (p *Page) Press(key string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
		p.t.Fatalf("browsertest: key %q: %v", key, err)
	}
}

// SetColors sets the color scheme that the user prefers: "light" or "dark".
func (p *Page) SetColors(scheme string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatalf("browsertest: colors %s: %v", scheme, err)
	}
}
