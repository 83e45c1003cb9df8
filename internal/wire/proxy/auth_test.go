package proxy

import (
	"bufio"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

// TestDigestLogin checks Digest responses with a proxy that verifies them.
func TestDigestLogin(t *testing.T) {
	for _, c := range []struct {
		name, algorithm, qop, password string
		stale                          int // number of nonces that are rejected as stale
		requests                       int
		want                           string
	}{
		{"MD5", "MD5", `"auth"`, "s3cret", 0, 2, "<nil>"},
		{"session", "MD5-sess", `"auth"`, "s3cret", 0, 2, "<nil>"},
		{"SHA-256", "SHA-256", `"auth,auth-int"`, "s3cret", 0, 2, "<nil>"},
		{"SHA-512-256, session", "SHA-512-256-sess", `auth`, "s3cret", 0, 2, "<nil>"},
		{"RFC 2069", "", "", "s3cret", 0, 2, "<nil>"},
		{"stale nonce", "MD5", `"auth"`, "s3cret", 1, 3, "<nil>"},
		{"always stale", "MD5", `"auth"`, "s3cret", 9, 3, "proxy rejected the credentials"},
		{"wrong password", "MD5", `"auth"`, "other", 0, 2, "proxy rejected the credentials"},
	} {
		conn, proxyConn := net.Pipe()
		proxy := &digestProxy{algorithm: c.algorithm, qop: c.qop, stale: c.stale}
		done := make(chan struct{})
		go func() { proxy.serve(proxyConn); close(done) }()
		err := Connect(t.Context(), conn, "http", "h.test:70", Options{Login: httpauth.Login{User: "mary", Password: c.password}, Auth: httpauth.Any})
		conn.Close()
		<-done
		if fmt.Sprint(err) != c.want || proxy.requests != c.requests {
			t.Errorf("%s: %v after %d requests, want %s after %d", c.name, err, proxy.requests, c.want, c.requests)
		}
	}
}

type digestProxy struct {
	algorithm, qop  string
	stale, requests int
}

func (p *digestProxy) serve(conn net.Conn) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		p.requests++
		stale := ""
		if login := req.Header.Get("Proxy-Authorization"); login != "" && p.stale > 0 {
			p.stale--
			stale = ", stale=TRUE"
		} else if login != "" && p.verify(login) {
			fmt.Fprint(conn, granted)
			return
		}
		challenge := fmt.Sprintf(`Digest realm="the proxy", nonce="n%d"`, p.requests)
		if p.algorithm != "" {
			challenge += ", algorithm=" + p.algorithm
		}
		if p.qop != "" {
			challenge += ", qop=" + p.qop
		}
		fmt.Fprintf(conn, "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\nProxy-Authenticate: %s\r\nContent-Length: 2\r\n\r\nno", challenge+stale)
	}
}

// verify reports whether login is a correct Digest response (RFC 7616 3.4).
func (p *digestProxy) verify(login string) bool {
	got := httpauth.Parse([]string{login})[0].Params
	hash := hashOf(p.algorithm)
	a1 := hash("mary:the proxy:s3cret")
	if strings.HasSuffix(p.algorithm, "-sess") {
		a1 = hash(a1 + ":" + got["nonce"] + ":" + got["cnonce"])
	}
	between := got["nonce"]
	if p.qop != "" {
		between += ":" + got["nc"] + ":" + got["cnonce"] + ":" + got["qop"]
	}
	return got["username"] == "mary" && got["uri"] == "h.test:70" && got["nonce"] == fmt.Sprintf("n%d", p.requests-1) &&
		got["response"] == hash(a1+":"+between+":"+hash("CONNECT:h.test:70"))
}

// hashOf returns the hash function of a Digest algorithm (RFC 7616 3.3).
func hashOf(algorithm string) func(string) string {
	return func(s string) string {
		switch strings.TrimSuffix(algorithm, "-sess") {
		case "SHA-256":
			return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))
		case "SHA-512-256":
			return fmt.Sprintf("%x", sha512.Sum512_256([]byte(s)))
		}
		return fmt.Sprintf("%x", md5.Sum([]byte(s)))
	}
}

func TestLoginIsMasked(t *testing.T) {
	opts := Options{Login: mary}
	for _, v := range []any{mary, &mary, opts, struct{ o Options }{opts}.o} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "s3cret") || strings.Contains(got, fmt.Sprintf("%x", "s3cret")) {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
}
