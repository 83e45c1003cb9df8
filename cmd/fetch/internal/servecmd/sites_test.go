package servecmd_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/cmd/fetch/internal/servecmd"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/scriptsites"
	"github.com/anyurl/fetch/warc"
)

// ended is a condition for the title of a site that has checked itself.
const ended = "/^(passed|failed)/.test(document.title)"

// unsupported are the sites that ReplayWeb.page does not replay completely. It
// changes srcset, and has no Cache interface, origin of workers and service
// workers of the site.
var unsupported = []string{"elements", "storage", "workers", "service worker"}

// TestSites captures the sites of scriptsites with a browser, packs them, and
// replays them in three ways: in the browser of the user, in one whose only
// network is the archive, and in ReplayWeb.page.
func TestSites(t *testing.T) {
	t.Parallel()
	wacz := crawlSites(t)
	t.Run("scripts=localhost", func(t *testing.T) {
		t.Parallel()
		first := serveArchive(t, wacz)
		b := browsertest.Start(t, scriptsAddress(t, first))
		for _, s := range scriptsites.Sites {
			p := b.Open(scriptsPage(t, first, s.URL))
			p.Wait(ended)
			if title := p.Eval("document.title"); (title == "passed") == s.NeedsOriginalURL {
				t.Errorf("%s: %s: %q", s.Name, title, p.Errors())
			}
			p.Go("about:blank")
		}
	})
	t.Run("scripts=browser", func(t *testing.T) {
		t.Parallel()
		a, err := warc.Open(wacz)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		r := servecmd.StartReplay(t, gateway.Archive{Name: "sites", Source: a})
		for _, s := range scriptsites.Sites {
			if title := r.Eval(s.URL, "until(() => "+ended+").then(() => document.title)"); title != "passed" {
				t.Errorf("%s: %s", s.Name, title)
			}
		}
	})
	t.Run("ReplayWeb.page", func(t *testing.T) {
		t.Parallel()
		r := browsertest.OpenWACZ(t, wacz, scriptsites.Sites[0].URL)
		r.Wait("doc.title")
		for _, s := range scriptsites.Sites {
			r.Show(s.URL, strings.ReplaceAll(ended, "document", "doc"))
			if title := r.Page.Eval("replayed().title"); title != "passed" && !slices.Contains(unsupported, s.Name) {
				t.Errorf("%s: %s", s.Name, title)
			}
		}
	})
}

// crawlSites captures the sites, and packs them. It returns the name of the WACZ
// file. Scripts have five seconds between two requests, because the machine may be
// busy.
func crawlSites(t *testing.T) string {
	t.Helper()
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	address, cert := scriptsites.New(t).Start(t)
	dir, wacz := filepath.Join(t.TempDir(), "sites"), filepath.Join(t.TempDir(), "sites.wacz")
	args := []string{"mirror", "--browser", "--browser-tabs", "5", "--page-idle", "5", "--page", "--warc", "--no-tree", "--delay", "0",
		"--connect-to", "::" + address, "--cacert", cert, "--output-dir", dir, scriptsites.Landing}
	for _, s := range scriptsites.Sites {
		args = append(args, s.URL)
	}
	commandtest.Run(t, 0, args...)
	commandtest.Run(t, 0, "verify", dir)
	commandtest.Run(t, 0, "pack", "--wacz", wacz, dir)
	return wacz
}

// serveArchive runs fetch serve --scripts. It returns the URL of the first page.
func serveArchive(t *testing.T, wacz string) string {
	t.Helper()
	c := commandtest.Command("fetch", "serve", "--no-config", "--listen", "127.0.0.1:0", "--scripts", "--scripts-listen", "127.0.0.1:0", wacz)
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, first, ok := strings.Cut(lines.Text(), "archives are at "); ok {
			return first
		}
	}
	t.Fatal("fetch serve does not start")
	return ""
}

// scriptsLink matches the link to the page of a capture with its scripts.
var scriptsLink = regexp.MustCompile(`href="(http://[^"]+)">with scripts<`)

// scriptsPage returns the URL of the page that shows the capture of a URL with its
// scripts.
func scriptsPage(t *testing.T, first, page string) string {
	t.Helper()
	resp, err := http.Get(first + "archive/sites.wacz/2099/" + page)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	found := scriptsLink.FindSubmatch(text)
	if err != nil || found == nil {
		t.Fatalf("no link to the page with scripts of %s: %v: %s", page, err, text)
	}
	return string(found[1])
}

// scriptsAddress returns the address of the second server of fetch serve.
func scriptsAddress(t *testing.T, first string) string {
	t.Helper()
	u, err := url.Parse(scriptsPage(t, first, scriptsites.Sites[0].URL))
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", u.Port())
}
