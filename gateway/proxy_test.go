package gateway

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/nntp"
)

// startLive starts a server of live pages that may reach 127.0.0.1.
func startLive(t *testing.T, change func(*Options)) net.Listener {
	t.Helper()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newLive(t, func(o *Options) {
		o.Address = l.Addr()
		if change != nil {
			change(o)
		}
	})
	serve(t, h, l)
	return l
}

const article = "Path: test!not-for-mail\r\nFrom: J <j@example.org>\r\nNewsgroups: local.test\r\nSubject: Tea <b>time</b>\r\n" +
	"Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nMessage-ID: <tea@example.org>\r\n\r\nMilk first.\r\n"

// TestTextBrowsers shows objects of real servers in text browsers that use the
// gateway as a proxy.
func TestTextBrowsers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	t.Parallel()
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("about.txt", []byte("About <b> caf\xc3\xa9\n"))
	gopher.Put("papers/first.txt", []byte("The first paper\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("pub/motd.txt", []byte("Welcome to the archive\n"))
	news := peer.INN(t, peer.INNOptions{})
	news.Feed(article)
	wais := faultnet.Listen(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
	finger := peer.Fingerd(t)
	finger.PutHome(".plan", []byte("To drink tea\n"))
	gateway := startLive(t, func(o *Options) {
		o.Schemes = schemes.All(schemes.Options{NNTP: nntp.Options{Server: news.Addr}})
	}).Addr().String()
	for name, c := range map[string]struct {
		program, url string
		want         []string
	}{
		"gopher menu in lynx":        {"lynx", "gopher://" + gopher.Addr + "/1/", []string{"about.txt", "papers", "gopher://" + gopher.Addr + "/0/about.txt"}},
		"gopher text in lynx":        {"lynx", "gopher://" + gopher.Addr + "/0/about.txt", []string{"About <b> caf"}},
		"gopher menu in w3m":         {"w3m", "gopher://" + gopher.Addr + "/1/", []string{"about.txt", "papers"}},
		"gopher folder in w3m":       {"w3m", "gopher://" + gopher.Addr + "/1/papers", []string{"first.txt"}},
		"gopher text in w3m":         {"w3m", "gopher://" + gopher.Addr + "/0/papers/first.txt", []string{"The first paper"}},
		"ftp directory in lynx":      {"lynx", "ftp://" + ftp.Addr + "/pub/", []string{"motd.txt", "ftp://" + ftp.Addr + "/pub/motd.txt"}},
		"ftp file in lynx":           {"lynx", "ftp://" + ftp.Addr + "/pub/motd.txt", []string{"Welcome to the archive"}},
		"ftp directory in w3m":       {"w3m", "ftp://" + ftp.Addr + "/pub/", []string{"motd.txt"}},
		"ftp directory in elinks":    {"elinks", "ftp://" + ftp.Addr + "/pub/", []string{"motd.txt", "ftp://" + ftp.Addr + "/pub/motd.txt"}},
		"newsgroup in lynx":          {"lynx", "news://" + news.Addr + "/local.test", []string{"Tea <b>time</b>"}},
		"newsgroup without a server": {"lynx", "news:local.test", []string{"Tea <b>time</b>"}},
		"article in lynx":            {"lynx", "news:tea@example.org", []string{"Milk first.", "Tea <b>time</b>"}},
		"wais search in lynx":        {"lynx", "wais://" + wais.Addr().String() + "/notes?whale", []string{"alpha.txt", "wais://" + wais.Addr().String() + "/notes/"}},
		"wais database in lynx":      {"lynx", "wais://" + wais.Addr().String() + "/notes", []string{"Search words"}},
		"finger in lynx":             {"lynx", "finger://" + finger.Addr + "/" + peer.User, []string{"To drink tea"}},
		"private address in lynx":    {"lynx", "gopher://10.0.0.1/1/", []string{"The policy denies access to this URL"}},
		"the gateway itself in lynx": {"lynx", "gopher://" + gateway + "/1/", []string{"The policy denies access to this URL"}},
		"session in w3m":             {"w3m", "ftp://user:secret@" + ftp.Addr + "/pub/", []string{"The URL contains a login"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			page := textBrowser(t, c.program, gateway, c.url)
			for _, want := range c.want {
				if !strings.Contains(page, want) {
					t.Errorf("%q is missing in\n%s", want, page)
				}
			}
		})
	}
}

// textBrowser returns the page at a URL as text, from a text browser that uses
// the gateway as its proxy for all schemes but http.
func textBrowser(t *testing.T, program, gateway, url string) string {
	t.Helper()
	args := map[string][]string{
		"lynx": {"-dump", "-cfg=/dev/null", "-display_charset=utf-8", url}, "w3m": {"-dump", url},
		"elinks": {"-no-home", "-dump", url},
	}[program]
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, peer.Need(t, program, program), args...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "TERM=dumb", "LANG=C.UTF-8"}
	for _, scheme := range []string{"gopher", "ftp", "wais", "news", "nntp", "finger"} {
		cmd.Env = append(cmd.Env, scheme+"_proxy=http://"+gateway+"/")
	}
	out, err := cmd.CombinedOutput() // lynx exits with 1 after the page of an error
	if err != nil && ctx.Err() != nil {
		t.Fatalf("%s %s: %v: %s", program, url, err, out)
	}
	return string(out)
}

// TestProxy checks which proxy requests are answered. No refused request opens
// a connection: their hosts have no server.
func TestProxy(t *testing.T) {
	h := newLive(t, nil)
	for name, c := range map[string]struct {
		target string
		status int
		want   string
	}{
		"http":                    {"http://a.example/", 403, "not a proxy for Web servers"},
		"https":                   {"https://a.example/", 403, "not a proxy for Web servers"},
		"http in capitals":        {"HTTP://a.example/", 403, "not a proxy for Web servers"},
		"the server as a proxy":   {"http://localhost:8700/", 403, "not a proxy for Web servers"},
		"file":                    {"file:///etc/passwd", 403, "no access to files and mailboxes"},
		"imap":                    {"imap://h.example/INBOX", 403, "no access to files and mailboxes"},
		"mid":                     {"mid:a@b.example", 403, "no access to files and mailboxes"},
		"cid":                     {"cid:a@b.example", 403, "no access to files and mailboxes"},
		"sftp":                    {"sftp://h.example/", 403, "no access to files and mailboxes"},
		"mailto":                  {"mailto:a@b.example", 403, "no access to files and mailboxes"},
		"telnet":                  {"telnet://h.example/", 200, "opens a session"},
		"password":                {"ftp://user:secret@h.example/", 403, "contains a login"},
		"user name":               {"ftp://user@h.example/", 403, "contains a login"},
		"unknown scheme":          {"gopherx://h.example/", 400, "The scheme is not supported"},
		"invalid URL":             {"gopher://h.example:x/", 400, "The URL is invalid"},
		"private address":         {"gopher://10.0.0.1/1/", 403, "The policy denies access"},
		"link-local address":      {"ftp://[fe80::1]/", 403, "The policy denies access"},
		"metadata service":        {"gopher://169.254.169.254/1/", 403, "The policy denies access"},
		"another loopback host":   {"gopher://127.0.0.2/1/", 403, "The policy denies access"},
		"localhost":               {"gopher://localhost/1/", 403, "The policy denies access"},
		"the listener":            {"gopher://127.0.0.1:8700/1/", 403, "The policy denies access"},
		"port out of range":       {"gopher://h.example:99999/", 403, "The policy denies access"},
		"port of another service": {"gopher://h.example:25/1/", 403, "The policy denies access"},
		"line end in a selector":  {"gopher://h.example/1/a%0d%0aquit", 400, "cannot be retrieved"},
	} {
		w := get(h, "GET", c.target, "Host: h.example")
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %s: %d, want %d and %q in\n%s", name, c.target, w.Code, c.status, c.want, w.Body)
		}
		if strings.Contains(w.Body.String(), `href="/`) || strings.Contains(w.Body.String(), "<form") {
			t.Errorf("%s: the page has links to the server of the URL, or a form:\n%s", name, w.Body)
		}
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: the page contains the password:\n%s", name, w.Body)
		}
	}
	for _, target := range []string{"gopher://h.example/1/", "news:local.test", "http://localhost:8700/"} {
		if w := get(newHandler(t, nil), "GET", target, "Host: h.example"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "This server is not a proxy") {
			t.Errorf("archives only: %s: %d", target, w.Code)
		}
		public := newLive(t, func(o *Options) {
			o.Public, o.Live.AllowHosts, o.Live.Schemes = true, nil, []string{"gopher"}
		})
		if w := get(public, "GET", target, "Host: h.example"); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "This server is not a proxy") {
			t.Errorf("public server: %s: %d", target, w.Code)
		}
	}
	if w := get(newLive(t, func(o *Options) { o.Live.Schemes = []string{"ftp"} }), "GET", "gopher://h.example/1/"); w.Code != http.StatusForbidden {
		t.Errorf("scheme that is not in the list: %d", w.Code)
	}
	for _, target := range []string{"h.example:443", "localhost:8700", "127.0.0.1:22", "gopher://h.example/1/"} {
		if w := get(h, "CONNECT", target, "Host: "+target); w.Code != http.StatusMethodNotAllowed {
			t.Errorf("CONNECT %s: %d", target, w.Code)
		}
	}
	if w := get(h, "POST", "gopher://h.example/1/", "Host: h.example"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

// TestProxyLinks checks the links of a menu for a client that uses the gateway
// as a proxy, and that they can be retrieved.
func TestProxyLinks(t *testing.T) {
	s := peer.Gophernicus(t, peer.GophernicusOptions{Args: []string{"-nh"}})
	s.Put("about.txt", []byte("About\n"))
	s.Put("gophermap", []byte("hHome\tURL:http://a.example/\tg.example\t70\n1Away\t/x y\tg.example\t70\n0About\tabout.txt\n"+
		"hScript\tURL:javascript:alert(1)\tg.example\t70\n8Login\t\tt.example\t23\n"))
	h := newLive(t, nil)
	w := get(h, "GET", "gopher://"+s.Addr+"/1/", "Host: "+s.Addr)
	body := w.Body.String()
	for _, want := range []string{
		`href="http://a.example/"`, `href="gopher://g.example/1/x%20y"`, `href="gopher://` + s.Addr + `/0/about.txt"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	for _, bad := range []string{`href="javascript:`, `href="/`} {
		if strings.Contains(body, bad) {
			t.Errorf("%s in\n%s", bad, body)
		}
	}
	raw := regexp.MustCompile(`href="http://127\.0\.0\.1:8700(/raw[^"]*)"`).FindStringSubmatch(body)
	if raw == nil {
		t.Fatalf("no link to the bytes in\n%s", body)
	}
	if w := get(h, "GET", raw[1]); w.Code != 200 || !strings.HasPrefix(w.Body.String(), "hHome\t") {
		t.Errorf("%s: %d: %s", raw[1], w.Code, w.Body)
	}
	w = get(h, "GET", "gopher://"+s.Addr+"/7/search", "Host: "+s.Addr)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `action="http://127.0.0.1:8700/live"`) || !strings.Contains(body, `name="via"`) {
		t.Errorf("search form: %d: %s", w.Code, body)
	}
	w = get(h, "GET", "gopher://"+s.Addr+"/0/about.txt", "Host: "+s.Addr)
	if w.Code != 200 || w.Body.String() != "About\r\n" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("text: %d %v %q", w.Code, w.Header(), w.Body)
	}
}

// TestPublicLive checks that a public server needs a list of schemes, and that
// its live pages reach public addresses only.
func TestPublicLive(t *testing.T) {
	for name, change := range map[string]func(*Live){
		"no schemes":    func(l *Live) { l.AllowHosts = nil },
		"private hosts": func(l *Live) { l.Schemes = []string{"gopher"} },
	} {
		opts := Options{Address: testAddress, Public: true, Live: &Live{AllowHosts: []string{"127.0.0.1"}}}
		opts.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			return fetch.New(fetch.Options{Policy: p}), nil
		}
		change(opts.Live)
		if _, err := New(opts); fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	h := newLive(t, func(o *Options) {
		o.Public, o.Live.AllowHosts, o.Live.Schemes = true, nil, []string{"gopher"}
	})
	for _, target := range []string{
		"/live/gopher://127.0.0.1:7070/1/", "/live/gopher://10.0.0.1/1/", "/raw/gopher://[::1]/1/", "/live/ftp://192.0.2.1/",
		"/live/file:///etc/passwd", "/raw/file:///etc/passwd", "/live/imap://h.example/INBOX", "/live/gopher://localhost/",
	} {
		for _, header := range [][]string{nil, navigation} {
			if w := get(h, "GET", target, header...); w.Code != http.StatusForbidden {
				t.Errorf("%s: %d", target, w.Code)
			}
		}
	}
}
