package http_test

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func unauthorized(challenges ...string) string {
	return "HTTP/1.1 401 x\r\nContent-Length: 5\r\nWWW-Authenticate: " + strings.Join(challenges, "\r\nWWW-Authenticate: ") + "\r\n\r\nagain"
}

// authorization returns the Authorization field of each request, or "".
func (s *script) authorization(t *testing.T) (values []string) {
	t.Helper()
	for _, head := range s.heads() {
		_, rest, _ := strings.Cut(head, "\r\nAuthorization: ")
		value, _, _ := strings.Cut(rest, "\r\n")
		values = append(values, value)
	}
	return values
}

var digestParam = regexp.MustCompile(`(\w+)=(?:"([^"]*)"|([^, ]+))`)

// checkDigest verifies the response parameter of a Digest field (RFC 7616
// 3.4.1).
func checkDigest(t *testing.T, field, method, target, user, password string) {
	t.Helper()
	p := map[string]string{}
	for _, m := range digestParam.FindAllStringSubmatch(field, -1) {
		p[m[1]] = m[2] + m[3]
	}
	hash := func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }
	if strings.HasPrefix(p["algorithm"], "SHA-256") {
		hash = func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	}
	a1 := hash(user + ":" + p["realm"] + ":" + password)
	if strings.HasSuffix(p["algorithm"], "-sess") {
		a1 = hash(a1 + ":" + p["nonce"] + ":" + p["cnonce"])
	}
	want := hash(a1 + ":" + p["nonce"] + ":" + p["nc"] + ":" + p["cnonce"] + ":auth:" + hash(method+":"+target))
	if p["qop"] == "" {
		want = hash(a1 + ":" + p["nonce"] + ":" + hash(method+":"+target))
	}
	if !strings.HasPrefix(field, "Digest ") || p["uri"] != target || p["response"] != want {
		t.Errorf("field %q, want response %s for %s", field, want, target)
	}
}

func TestDigest(t *testing.T) {
	for name, challenge := range map[string]string{
		"MD5":                    `Digest realm="r", nonce="n1", qop="auth", algorithm=MD5, opaque="o"`,
		"MD5-sess":               `Digest realm="r", nonce="n1", qop="auth,auth-int", algorithm=MD5-sess`,
		"SHA-256":                `Digest realm="r", nonce="n1", qop=auth, algorithm=SHA-256`,
		"SHA-256-sess":           `Digest realm="r", nonce="n1", qop=auth, algorithm=SHA-256-sess`,
		"RFC 2069":               `Digest realm="r", nonce="n1"`,
		"after other challenges": `Negotiate, Basic realm="r", Digest realm="r", nonce="n1", qop=auth`,
	} {
		for _, mode := range []http.Auth{http.Digest, http.AnyAuth} {
			t.Run(name, func(t *testing.T) {
				s := &script{replies: [][]string{{unauthorized(challenge), ok}}}
				req := newRequest("http://alice:s3cret@h/a/%7e?b")
				_, body, err := get(t, s.newClient(t, http.Options{Auth: mode}), req)
				if err != nil || body != "hello" {
					t.Fatalf("got %q, %v", body, err)
				}
				fields := s.authorization(t)
				if len(fields) != 2 || fields[0] != "" || s.conns != 1 {
					t.Fatalf("sent %q on %d connections", fields, s.conns)
				}
				checkDigest(t, fields[1], "GET", "/a/%7e?b", "alice", "s3cret")
			})
		}
	}
}

func TestDigestStale(t *testing.T) {
	const challenge = `Digest realm="r", nonce="%s", qop=auth`
	s := &script{replies: [][]string{{unauthorized(sprintf(challenge, "n1")), unauthorized(sprintf(challenge, "n2") + ", stale=true"), ok}}}
	if _, body, err := get(t, s.newClient(t, http.Options{Auth: http.Digest}), newRequest("http://alice:s3cret@h/")); err != nil || body != "hello" {
		t.Fatalf("got %q, %v", body, err)
	}
	if fields := s.authorization(t); len(fields) != 3 || !strings.Contains(fields[2], `nonce="n2"`) {
		t.Errorf("sent %q", fields)
	}
}

// TestChallengeCache checks that later requests of the same user reuse a nonce
// with the next count, even with another password. A rejected login is not
// cached.
func TestChallengeCache(t *testing.T) {
	digest := `Digest realm="r", nonce="n1", qop=auth`
	no := unauthorized(digest)
	s := &script{replies: [][]string{{no, ok, ok, no, ok, ok, no, no, no, ok}}}
	client := s.newClient(t, http.Options{Auth: http.AnyAuth})
	for _, url := range []string{"alice:a@h/1", "alice:a@h/2", "bob:b@h/3", "alice:a@h/4", "eve:x@h/5", "eve:e@h/6"} {
		get(t, client, newRequest("http://"+url))
	}
	want := []string{"", "alice 00000001", "alice 00000002", "", "bob 00000001", "alice 00000003", "", "eve 00000001", "", "eve 00000001"}
	var got []string
	for _, field := range s.authorization(t) {
		p := map[string]string{}
		for _, m := range digestParam.FindAllStringSubmatch(field, -1) {
			p[m[1]] = m[2] + m[3]
		}
		got = append(got, strings.TrimSpace(p["username"]+" "+p["nc"]))
	}
	if !slices.Equal(got, want) || s.conns != 1 {
		t.Errorf("sent %q on %d connections, want %q", got, s.conns, want)
	}
}

// TestChallengeCacheRedirect checks that a redirect reuses a Basic challenge if
// the caller allows the credentials for every host. A nonce is not sent to
// other hosts.
func TestChallengeCacheRedirect(t *testing.T) {
	for challenge, want := range map[string]string{`Basic realm="r"`: "Basic YWxpY2U6YQ==", `Digest realm="r", nonce="n", qop=auth`: ""} {
		s := &script{replies: [][]string{
			{unauthorized(challenge), "HTTP/1.1 302 x\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n"}, {ok},
		}}
		client := s.newClient(t, http.Options{Auth: http.AnyAuth}, func(o *fetch.Options) { o.Policy.LocationTrusted = true })
		if _, _, err := get(t, client, newRequest("http://alice:a@h/")); err != nil {
			t.Fatal(err)
		}
		if fields := s.authorization(t); len(fields) != 3 || fields[2] != want {
			t.Errorf("%s: sent %q", challenge, fields)
		}
	}
}

// TestAuthRejected checks that rejected credentials are sent only once, and
// that Basic is used only if the options allow it.
func TestAuthRejected(t *testing.T) {
	digest := `Digest realm="r", nonce="n1", qop=auth`
	for _, test := range []struct {
		name       string
		mode       http.Auth
		challenges []string
		want       []string // prefixes of the Authorization fields
	}{
		{"basic", http.Basic, []string{`Basic realm="r"`}, []string{"Basic "}},
		{"basic, digest offered", http.Basic, []string{digest}, []string{"Basic "}},
		{"digest wrong", http.Digest, []string{digest, `Basic realm="r"`}, []string{"", "Digest "}},
		{"digest required, basic offered", http.Digest, []string{`Basic realm="r"`}, []string{""}},
		{"any", http.AnyAuth, []string{`Basic realm="r"`, digest}, []string{"", "Digest "}},
		{"any, unknown algorithm", http.AnyAuth, []string{`Digest realm="r", nonce="n", algorithm=XX`, `Basic realm="r"`}, []string{"", "Basic "}},
		{"any, unknown scheme", http.AnyAuth, []string{"Negotiate", "NTLM"}, []string{""}},
		{"stale for every nonce", http.Digest, []string{digest + ", stale=true"}, []string{"", "Digest ", "Digest "}},
		{"no challenge", http.AnyAuth, []string{""}, []string{""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			no := unauthorized(test.challenges...)
			s := &script{replies: [][]string{{no, no, no, no}}}
			_, _, err := get(t, s.newClient(t, http.Options{Auth: test.mode}), newRequest("http://alice:s3cret@h/"))
			fields := s.authorization(t)
			good := len(fields) == len(test.want)
			for i := range fields {
				good = good && (fields[i] == test.want[i] || test.want[i] != "" && strings.HasPrefix(fields[i], test.want[i]))
			}
			if !errors.Is(err, fetch.Auth) || !good {
				t.Errorf("got %v, sent %q, want %q", err, fields, test.want)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	basic := unauthorized("Basic realm=\"the realm\"")
	for _, test := range []struct {
		name    string
		replies []string
		answers []*fetch.Credential
		calls   int
		want    fetch.Fault
	}{
		{"basic", []string{basic, ok}, []*fetch.Credential{{User: "u", Password: "p"}}, 1, 0},
		{"token", []string{basic, ok}, []*fetch.Credential{{Token: "t"}}, 1, 0},
		{"no credentials", []string{basic}, []*fetch.Credential{nil}, 1, fetch.Auth},
		{"second login accepted", []string{basic, basic, ok}, []*fetch.Credential{{User: "u"}, {User: "v"}}, 2, 0},
		{"every login rejected", []string{basic, basic, basic, basic}, []*fetch.Credential{{User: "u"}, {User: "v"}, {User: "w"}}, 3, fetch.Auth},
	} {
		t.Run(test.name, func(t *testing.T) {
			var challenges []fetch.Challenge
			s := &script{replies: [][]string{test.replies}}
			client := s.newClient(t, http.Options{}, func(o *fetch.Options) {
				o.Login = func(_ context.Context, c fetch.Challenge) (*fetch.Credential, error) {
					challenges = append(challenges, c)
					return test.answers[len(challenges)-1], nil
				}
			})
			_, _, err := get(t, client, newRequest("http://h/"))
			if err != nil && (test.want == 0 || !errors.Is(err, test.want)) || len(challenges) != test.calls {
				t.Fatalf("got %v, %d challenges", err, len(challenges))
			}
			for i, c := range challenges {
				if c.Rejected != (i > 0) || c.Origin != (fetch.Origin{Scheme: "http", Host: "h", Port: 80}) || !c.Typed || c.Proxy || c.Realm == "" {
					t.Errorf("challenge %+v", c)
				}
			}
		})
	}
}

// TestAuthAfterRedirect checks that a password is not sent to another origin
// after a redirect, even if that origin sends a challenge.
func TestAuthAfterRedirect(t *testing.T) {
	for _, target := range []string{"http://other/", "http://h:8080/"} {
		s := &script{replies: [][]string{
			{"HTTP/1.1 302 x\r\nLocation: " + target + "\r\nContent-Length: 0\r\n\r\n"},
			{unauthorized(`Basic realm="r"`, `Digest realm="r", nonce="n", qop=auth`)},
		}}
		client := s.newClient(t, http.Options{Auth: http.AnyAuth}, func(o *fetch.Options) {
			o.Login = func(context.Context, fetch.Challenge) (*fetch.Credential, error) {
				t.Error("login requested for another origin")
				return nil, nil
			}
		})
		req := newRequest("http://alice:s3cret@h/")
		req.Header = fields("X-Api-Key", "k3y", "Cookie", "a=b")
		if _, _, err := get(t, client, req); !errors.Is(err, fetch.Auth) {
			t.Errorf("%s: got %v", target, err)
		}
		if heads := s.heads(); len(heads) != 2 || strings.Contains(heads[1], "uthorization") || strings.Contains(heads[1], "k3y") || strings.Contains(heads[1], "ookie") {
			t.Errorf("%s: sent %q", target, heads)
		}
	}
}

func TestProxyDigest(t *testing.T) {
	no := strings.ReplaceAll(strings.ReplaceAll(unauthorized(`Digest realm="p", nonce="n1", qop=auth`), "401", "407"), "WWW-", "Proxy-")
	s := &script{replies: [][]string{{no, ok}}}
	client := s.newClient(t, http.Options{}, func(o *fetch.Options) {
		o.Proxy = func(fetch.Target) (fetch.Proxy, error) {
			return fetch.Proxy{URL: uri.MustParse("http://alice:s3cret@proxy:3128"), Auth: fetch.ProxyDigest}, nil
		}
	})
	if _, body, err := get(t, client, newRequest("http://h/a?b")); err != nil || body != "hello" {
		t.Fatalf("got %q, %v", body, err)
	}
	_, rest, _ := strings.Cut(s.heads()[1], "\r\nProxy-Authorization: ")
	field, _, _ := strings.Cut(rest, "\r\n")
	checkDigest(t, field, "GET", "http://h/a?b", "alice", "s3cret")
	if strings.Contains(s.heads()[0], "uthorization") {
		t.Errorf("sent %q", s.heads()[0])
	}
}
