package http_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

const password = "s3cret" // password of peer.User

func requestWithLogin(url string) *fetch.Request {
	req := newRequest(url)
	req.Auth = &fetch.Credential{User: peer.User, Password: password}
	return req
}

// TestApacheLogin checks authentication against Apache, which also verifies the
// nonce counts of Digest.
func TestApacheLogin(t *testing.T) {
	for _, test := range []struct {
		scheme string
		mode   http.Auth
		logged string // status codes in the access log
	}{
		{"Basic", http.Basic, "200 200 200"},
		{"Basic", http.AnyAuth, "401 200 200 200"},
		{"Digest", http.Digest, "401 200 200 200"},
		{"Digest", http.AnyAuth, "401 200 200 200"},
	} {
		t.Run(test.scheme, func(t *testing.T) {
			s := peer.Apache(t, peer.ApacheOptions{Login: test.scheme})
			s.Put("a b", []byte("hello"))
			client := realClient(t, s, http.Options{Auth: test.mode})
			for range 3 {
				if _, body, err := get(t, client, requestWithLogin("http://"+s.Addr+"/a%20b?x=y")); body != "hello" || err != nil {
					t.Fatalf("got %q, %v", body, err)
				}
			}
			wrong := requestWithLogin("http://" + s.Addr + "/a%20b")
			wrong.Auth.User, wrong.Auth.Password = "eve", "x"
			for range 2 { // Apache has logged the first request when the second one arrives
				if _, _, err := get(t, client, wrong); !errors.Is(err, fetch.Auth) {
					t.Errorf("with a wrong password: %v", err)
				}
			}
			s.Stop()
			if got := statuses(s.Log()); !strings.HasPrefix(got, test.logged+" 401") {
				t.Errorf("logged %s, want %s and 401", got, test.logged)
			}
		})
	}
}

// statuses returns the status codes in an access log.
func statuses(log string) string {
	var all []string
	for line := range strings.Lines(log) {
		if _, rest, ok := strings.Cut(line, `HTTP/1.1" `); ok {
			all = append(all, rest[:3])
		}
	}
	return strings.Join(all, " ")
}

// TestApacheAsIs checks responses with a head from a file (mod_asis).
func TestApacheAsIs(t *testing.T) {
	s := peer.Apache(t, peer.ApacheOptions{HTTP2: true})
	s.Put("found", []byte("hello"))
	for name, text := range map[string]string{
		"teapot":   "Status: 418 x\n\nshort",
		"later":    "Status: 503 x\nRetry-After: 7\n\n",
		"space":    "Status: 302 x\nLocation: http://" + s.Addr + "/fou%6Ed?a b\n\n",
		"file":     "Status: 302 x\nLocation: file:///etc/passwd\n\n",
		"userinfo": "Status: 302 x\nLocation: http://eve:x@" + s.Addr + "/found\n\n",
		"self":     "Status: 302 x\nLocation: self.asis\n\n",
		"coded":    "Status: 200 x\nContent-Encoding: gzip\n\nthis is no gzip at all",
	} {
		s.Put(name+".asis", []byte(text))
	}
	for name, want := range map[string]fetch.Fault{
		"teapot": fetch.Denied, "later": fetch.TryLater, "space": 0, "file": fetch.Unsupported, "userinfo": 0, "self": fetch.Loop, "coded": fetch.Protocol,
	} {
		for _, base := range []string{"http://" + s.Addr, "https://" + s.TLSAddr} {
			if strings.HasPrefix(base, "https") && (name == "userinfo" || name == "space") {
				continue // a redirect to http would be a downgrade
			}
			client := realClient(t, s, http.Options{Compressed: name == "coded"})
			_, body, err := get(t, client, newRequest(base+"/"+name+".asis"))
			if want == 0 && (err != nil || body != "hello") || want != 0 && !errors.Is(err, want) {
				t.Errorf("%s%s: got %q, %v, want %v", base, name, body, err, want)
			}
		}
	}
}

func TestApacheCompressed(t *testing.T) {
	s := peer.Apache(t, peer.ApacheOptions{HTTP2: true, Config: []string{"AddOutputFilterByType BROTLI_COMPRESS;DEFLATE text/plain"}})
	data := []byte(strings.Repeat("hello ", 50_000))
	s.Put("f.txt", data)
	for _, base := range []string{"http://" + s.Addr, "https://" + s.TLSAddr} {
		resp, body, err := get(t, realClient(t, s, http.Options{Compressed: true}), newRequest(base+"/f.txt"))
		if err != nil || body != string(data) || resp.Header.Get("Content-Encoding") == "" {
			t.Errorf("%s: %d bytes, %q, %v", base, len(body), resp.Header, err)
		}
	}
}

// TestSquid checks requests in absolute form and CONNECT with authentication.
func TestSquid(t *testing.T) {
	origin := peer.Nginx(t, peer.NginxOptions{HTTP2: true})
	data := noise(300_000)
	origin.Put("f", data)
	squid := peer.Squid(t, peer.ProxyOptions{TLS: true, Cert: origin.Cert, Login: true})
	for _, proxy := range []string{"http://" + squid.Addr, "https://" + squid.TLSAddr} {
		for user, want := range map[string]fetch.Fault{peer.User + ":" + password + "@": 0, "eve:x@": fetch.Auth, "": fetch.Auth} {
			via := fetch.Proxy{URL: uri.MustParse(strings.Replace(proxy, "//", "//"+user, 1))}
			for _, url := range []string{"http://" + origin.Addr, "https://" + origin.TLSAddr} {
				client := fetch.New(fetch.Options{
					Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: origin.Cert.Pool},
					Proxy: func(fetch.Target) (fetch.Proxy, error) { return via, nil },
				}, http.Schemes(http.Options{})...)
				_, body, err := get(t, client, newRequest(url+"/f"))
				if want == 0 && (err != nil || !bytes.Equal([]byte(body), data)) || want != 0 && !errors.Is(err, want) {
					t.Errorf("%s by %s: %d bytes, %v, want %v", url, via.URL, len(body), err, want)
				}
				client.Close()
			}
		}
	}
	if log := squid.Log(); strings.Contains(log, password) || !strings.Contains(log, "CONNECT "+origin.TLSAddr) {
		t.Errorf("log %q", log)
	}
}
