package gateway

import (
	"context"
	"crypto/tls"
	"html"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/ftp"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/sftp"
	"github.com/anyurl/fetch/uri"
)

// A visitor is a browser with its own cookies. It records the headers and bodies
// of all responses.
type visitor struct {
	t      *testing.T
	h      *Handler
	cookie string
	seen   strings.Builder
}

// newVisitor returns a browser that has opened the address with the token.
func newVisitor(t *testing.T, h *Handler) *visitor {
	t.Helper()
	w := get(h, "GET", h.TokenPath())
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("the token sets no cookie: %d", w.Code)
	}
	return &visitor{t: t, h: h, cookie: "Cookie: " + cookies[0].Name + "=" + cookies[0].Value}
}

// record adds a response to v.seen and returns it.
func (v *visitor) record(w *httptest.ResponseRecorder) *httptest.ResponseRecorder {
	w.Result().Header.Write(&v.seen)
	v.seen.WriteString(w.Body.String())
	return w
}

func (v *visitor) get(target string) *httptest.ResponseRecorder {
	return v.record(get(v.h, "GET", target, v.cookie, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"))
}

func (v *visitor) post(target string, form url.Values, fields ...string) *httptest.ResponseRecorder {
	if fields == nil {
		fields = []string{v.cookie, "Origin: http://localhost:8700", "Sec-Fetch-Site: same-origin"}
	}
	return v.record(post(v.h, target, form, fields...))
}

// open opens a URL as if the user had entered it.
func (v *visitor) open(u string) *httptest.ResponseRecorder {
	return v.get(signed(v.h, guard.Permission{Level: guard.Confirmed}, u))
}

// login fills in the form of a page, and returns the page that follows.
func (v *visitor) login(page *httptest.ResponseRecorder, user, password string) *httptest.ResponseRecorder {
	v.t.Helper()
	body := page.Body.String()
	if page.Code != 401 && page.Code != 403 || !strings.Contains(body, `type="password" autocomplete="new-password"`) {
		v.t.Fatalf("the page does not ask for a password: %d %s", page.Code, body)
	}
	form := fieldsOf(body)
	form.Set("password", password)
	if strings.Contains(body, `name="user"`) {
		form.Set("user", user)
	}
	w := v.post("/logins", form)
	to := w.Header().Get("Location")
	if w.Code != 303 || !strings.HasPrefix(to, "/live;via=") {
		v.t.Fatalf("the form: %d %s\n%s", w.Code, to, w.Body)
	}
	return v.get(to)
}

// asks reports whether a page has a form for a password.
func asks(w *httptest.ResponseRecorder) bool {
	return strings.Contains(w.Body.String(), `type="password"`)
}

// TestLogin logs in to a real server of each scheme that asks for a password.
func TestLogin(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	for _, c := range []struct {
		scheme string
		start  func(t *testing.T, o *schemes.Options, client *fetch.Options) (url, user string)
		want   string // a text of the page
	}{
		{"ftp with a user", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Vsftpd(t, peer.FTPOptions{})
			s.Put("home.txt", []byte("x"))
			return "ftp://" + peer.User + "@" + s.Addr + "//" + s.Root + "/", ""
		}, "home.txt"},
		{"imap", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Dovecot(t, peer.DovecotOptions{Config: []string{"auth_mechanisms = plain"}})
			return "imap://" + s.Addr + "/", peer.User
		}, "INBOX"},
		{"imap with a user", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			return "imap://" + peer.User + "@" + peer.Dovecot(t, peer.DovecotOptions{}).Addr + "/", ""
		}, "INBOX"},
		{"pop", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Dovecot(t, peer.DovecotOptions{POP3: true, Config: []string{"auth_mechanisms = plain"}})
			return "pop://" + s.Addr + "/", peer.User
		}, "0 "},
		{"http, Basic", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Apache(t, peer.ApacheOptions{Login: "Basic"})
			s.Put("page.txt", []byte("private text"))
			return "http://" + s.Addr + "/page.txt", peer.User
		}, "private text"},
		{"http, Digest", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Apache(t, peer.ApacheOptions{Login: "Digest"})
			s.Put("page.txt", []byte("private text"))
			return "http://" + s.Addr + "/page.txt", peer.User
		}, "private text"},
		{"sftp", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.SSHD(t, peer.SSHDOptions{})
			o.SFTP = sftp.Options{KnownHosts: []string{s.KnownHosts}}
			s.Put("file.txt", []byte("x"))
			return "sftp://" + s.Addr + s.Root + "/", peer.User
		}, "file.txt"},
		{"nntp", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.INN(t, peer.INNOptions{Login: true, TLS: true})
			client.TLS = &tls.Config{RootCAs: s.Cert.Pool}
			return "nntp://" + s.Addr + "/local.test", peer.User
		}, "local.test"},
		{"rsync", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Rsyncd(t)
			s.Put("file.txt", []byte("x"))
			return "rsync://" + s.Addr + "/private/", peer.User
		}, "file.txt"},
		{"smb", func(t *testing.T, o *schemes.Options, client *fetch.Options) (string, string) {
			s := peer.Smbd(t)
			s.Put("file.txt", []byte("x"))
			return "smb://" + s.Addr + "/private/", peer.User
		}, "file.txt"},
	} {
		t.Run(c.scheme, func(t *testing.T) {
			t.Parallel()
			o := schemes.Options{FTP: ftp.Options{}, HTTP: web.Options{Compressed: true, Auth: web.AnyAuth}}
			var client fetch.Options
			target, user := c.start(t, &o, &client)
			h := newLive(t, func(l *Options) {
				l.Schemes = schemes.All(o)
				l.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
					client.Policy = p
					return fetch.New(client, l.Schemes...), nil
				}
			})
			alice, other := newVisitor(t, h), newVisitor(t, h)
			checkSessions(t, h, alice, other, target, user, c.want)
			for _, v := range []*visitor{alice, other} {
				if strings.Contains(v.seen.String(), peer.Password) {
					t.Error("a response contains the password")
				}
			}
		})
	}
}

// checkSessions logs in as alice, after a wrong password. It checks that the
// other browser has no access, and that the login can be removed.
func checkSessions(t *testing.T, h *Handler, alice, other *visitor, target, user, want string) {
	page := alice.open(target)
	if page = alice.login(page, user, "wrong password"); !asks(page) || !strings.Contains(page.Body.String(), "rejected the login") {
		t.Fatalf("after a wrong password: %d %s", page.Code, page.Body)
	}
	if list := alice.get("/logins"); strings.Contains(list.Body.String(), peer.User) {
		t.Error("a rejected login is kept")
	}
	page = alice.login(page, user, peer.Password)
	if page.Code != 200 || asks(page) || !strings.Contains(page.Body.String(), want) || !strings.Contains(page.Body.String(), "Logged in as "+peer.User) {
		t.Fatalf("after the login: %d %s", page.Code, page.Body)
	}
	if again := alice.open(target); again.Code != 200 {
		t.Errorf("the second request: %d %s", again.Code, again.Body)
	}
	if page := other.open(target); page.Code == 200 || !asks(page) {
		t.Errorf("another session: %d %s", page.Code, page.Body)
	}
	if page := get(h, "GET", signed(h, guard.Permission{Level: guard.Confirmed}, target)); page.Code == 200 || asks(page) {
		t.Errorf("without a session: %d %s", page.Code, page.Body)
	}
	list := alice.get("/logins")
	if !strings.Contains(list.Body.String(), peer.User) || strings.Contains(other.get("/logins").Body.String(), peer.User) {
		t.Errorf("the list of logins: %s", list.Body)
	}
	_, form, _ := strings.Cut(list.Body.String(), "<tbody>")
	form, _, _ = strings.Cut(form, "</form>")
	if w := alice.post("/logins", fieldsOf(form)); w.Code != 303 || w.Header().Get("Location") != "/logins" {
		t.Errorf("removing the login: %d %s", w.Code, w.Body)
	}
	if page := alice.open(target); page.Code == 200 || !asks(page) {
		t.Errorf("after the removal: %d %s", page.Code, page.Body)
	}
}

// mustSession returns the name of the session of a browser.
func mustSession(t *testing.T, h *Handler, v *visitor) string {
	t.Helper()
	_, value, _ := strings.Cut(v.cookie, "=")
	session, ok := h.gate.key.Session(value)
	if !ok {
		t.Fatal("the browser has no session")
	}
	return session
}

// TestLoginNone checks the responses for which the server asks for no login.
func TestLoginNone(t *testing.T) {
	s := newLoginServer(t, nil)
	const archived = "http://a.example/private"
	change := func(o *Options) {
		o.Archives = []Archive{{Name: "sample.warc.gz", Source: openSample(t, sample{"20240101", archived, "",
			"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=x\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nlogin"})}}
	}
	h := newLive(t, change)
	v := newVisitor(t, h)
	entered := guard.Permission{Level: guard.Confirmed}
	for _, c := range []struct {
		name, target string
		status       int
	}{
		{"archived page", root + "2024/" + archived, 401},
		{"bytes", liveTarget{url: uri.MustParse(s.URL + "/a"), raw: true}.path("", h.gate.key.Sign(entered, uri.MustParse(s.URL+"/a"))), 401},
		{"part of a page", liveTarget{url: uri.MustParse(s.URL + "/a"), inline: true}.path("", h.gate.key.Sign(entered, uri.MustParse(s.URL+"/a"))), 401},
	} {
		if w := v.get(c.target); w.Code != c.status || asks(w) {
			t.Errorf("%s: %d %s", c.name, w.Code, w.Body)
		}
	}
	if w := get(h, "GET", s.URL+"/a"); asks(w) {
		t.Errorf("a proxy request: %d %s", w.Code, w.Body)
	}
	public := newLive(t, func(o *Options) {
		o.Public, o.Live.AllowHosts, o.Live.Schemes = true, nil, []string{"http"}
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			refuse := func(fetch.Driver) fetch.Driver {
				return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
					return nil, fetch.Auth.Errorf("server requires a login")
				})
			}
			return fetch.New(fetch.Options{Policy: p, Wrap: []fetch.Middleware{refuse}}, o.Schemes...), nil
		}
	})
	form := url.Values{"url": {"http://public.example/"}, "user": {"alice"}, "password": {"x"}, "token": {h.gate.key.Token(guard.FormToken)}}
	for _, w := range []*httptest.ResponseRecorder{
		get(public, "GET", "/live/http://public.example/"), get(public, "GET", "/logins"), post(public, "/logins", form),
	} {
		if asks(w) || w.Code < 400 {
			t.Errorf("a public server: %d %s", w.Code, html.UnescapeString(w.Body.String()))
		}
	}
}
