package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestParseChallenges(t *testing.T) {
	type params = map[string]string
	for _, c := range []struct {
		name   string
		fields []string
		want   []Challenge
	}{
		{"basic", []string{`Basic realm="a b"`}, []Challenge{{"basic", params{"realm": "a b"}}}},
		{"unquoted", []string{`basic realm=ab`}, []Challenge{{"basic", params{"realm": "ab"}}}},
		{"two in two fields", []string{`Basic realm="a"`, `Digest realm="b", nonce="c"`},
			[]Challenge{{"basic", params{"realm": "a"}}, {"digest", params{"realm": "b", "nonce": "c"}}}},
		{"two in one field", []string{`Digest realm="b", qop="auth,auth-int", nonce="c", Basic realm="a"`},
			[]Challenge{{"digest", params{"realm": "b", "qop": "auth,auth-int", "nonce": "c"}}, {"basic", params{"realm": "a"}}}},
		{"scheme alone", []string{`Negotiate, NTLM`}, []Challenge{{"negotiate", params{}}, {"ntlm", params{}}}},
		{"token68", []string{`Negotiate YII=, Basic realm=a`}, []Challenge{{"negotiate", params{"yii": ""}}, {"basic", params{"realm": "a"}}}},
		{"escapes and commas in quotes", []string{`Basic realm="a\", \\b"`}, []Challenge{{"basic", params{"realm": `a", \b`}}}},
		{"blanks", []string{` Basic  realm = "a" ,, charset = UTF-8 `}, []Challenge{{"basic", params{"realm": "a", "charset": "UTF-8"}}}},
		{"first value wins", []string{`Basic realm=a, Realm=b`}, []Challenge{{"basic", params{"realm": "a"}}}},
		{"quote that is not closed", []string{`Basic realm="a, b`}, []Challenge{{"basic", params{"realm": `"a, b`}}}},
		{"parameter without a scheme", []string{`realm="a"`}, []Challenge{{"realm", params{}}}},
		{"nothing", []string{"", ",", `"x"`}, nil},
		{"a field's end ends its challenge", []string{`Basic realm=a`, `nonce=b`},
			[]Challenge{{"basic", params{"realm": "a"}}, {"nonce", params{}}}},
	} {
		if got := ParseChallenges(c.fields); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q is read as %v, want %v", c.name, c.fields, got, c.want)
		}
	}
	if got := ParseChallenges([]string{strings.Repeat("A b=c,", 1000)}); len(got) != maxChallenges {
		t.Errorf("%d challenges kept, want %d", len(got), maxChallenges)
	}
}

// TestDigest holds the examples of RFC 7616 3.9.1 and of RFC 2617
// 3.5.
func TestDigest(t *testing.T) {
	const realm = `realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", `
	for _, c := range []struct {
		name, challenge  string
		login            Login
		method, uri, cno string
		want             []string
	}{
		{"MD5", `Digest ` + realm + `qop="auth, auth-int", algorithm=MD5, opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
			Login{"Mufasa", "Circle of Life"}, "GET", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
			[]string{`response="8ca523f5e9506fed4657c9700eebdbec"`, `username="Mufasa"`, `uri="/dir/index.html"`, `nc=00000001`, `qop=auth`,
				`algorithm=MD5`, `opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`}},
		{"SHA-256", `Digest ` + realm + `qop="auth, auth-int", algorithm=SHA-256`,
			Login{"Mufasa", "Circle of Life"}, "GET", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
			[]string{`response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"`}},
		{"RFC 2617", `Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"`,
			Login{"Mufasa", "Circle Of Life"}, "GET", "/dir/index.html", "0a4f113b",
			[]string{`response="6629fae49393a05397450978507c4ef1"`}},
		// The response here was computed by Python's hashlib.
		{"auth-int alone", `Digest realm="r", nonce="n", qop="auth-int"`, Login{"u", "p"}, "GET", "/", "c",
			[]string{`response="7eeb55b7f6f7bbb156ec8ed04a13f5a5"`, "qop=auth-int"}},
		{"quotes in the user", `Digest realm="r", nonce="n"`, Login{`a"b\c`, "p"}, "GET", "/", "",
			[]string{`username="a\"b\\c"`}},
	} {
		got, err := ParseChallenges([]string{c.challenge})[0].digest(c.login, c.method, c.uri, c.cno, 1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s lacks %s", c.name, got, part)
			}
		}
	}
}

func TestDigestRefused(t *testing.T) {
	for _, challenge := range []string{
		`Digest realm="r"`,
		`Digest realm="r", nonce="n", algorithm=SHA-1`,
		`Digest realm="r", nonce="n", qop="x"`,
		`Digest realm="r", nonce="n", qop=""`,
		`Negotiate x=y`,
	} {
		if got, err := ParseChallenges([]string{challenge})[0].Answer(mary, "GET", "/", 1); err == nil {
			t.Errorf("%s is answered: %s", challenge, got)
		}
	}
}

// TestDigestLogin lets a proxy that knows the password judge the answers.
func TestDigestLogin(t *testing.T) {
	for _, c := range []struct {
		name, algorithm, qop, password string
		stale                          int // how many nonces are refused as stale
		requests                       int
		want                           string
	}{
		{"MD5", "MD5", `"auth"`, "s3cret", 0, 2, "<nil>"},
		{"session", "MD5-sess", `"auth"`, "s3cret", 0, 2, "<nil>"},
		{"SHA-256", "SHA-256", `"auth,auth-int"`, "s3cret", 0, 2, "<nil>"},
		{"SHA-512-256, session", "SHA-512-256-sess", `auth`, "s3cret", 0, 2, "<nil>"},
		{"RFC 2069", "", "", "s3cret", 0, 2, "<nil>"},
		{"stale nonce", "MD5", `"auth"`, "s3cret", 1, 3, "<nil>"},
		{"always stale", "MD5", `"auth"`, "s3cret", 9, 3, "proxy refused the login"},
		{"wrong password", "MD5", `"auth"`, "other", 0, 2, "proxy refused the login"},
	} {
		conn, far := net.Pipe()
		judge := &digestProxy{algorithm: c.algorithm, qop: c.qop, stale: c.stale}
		done := make(chan struct{})
		go func() { judge.serve(far); close(done) }()
		err := Connect(t.Context(), conn, "http", "h.test:70", Options{Login: Login{"mary", c.password}, Auth: AnyAuth})
		conn.Close()
		<-done
		if fmt.Sprint(err) != c.want || judge.requests != c.requests {
			t.Errorf("%s: %v after %d requests, want %s after %d", c.name, err, judge.requests, c.want, c.requests)
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
		} else if login != "" && p.right(login) {
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

// right checks an answer by the formulas of RFC 7616 3.4.
func (p *digestProxy) right(login string) bool {
	got := ParseChallenges([]string{login})[0].Params
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

func TestLoginIsNeverShown(t *testing.T) {
	opts := Options{Login: mary}
	for _, v := range []any{mary, &mary, opts, struct{ o Options }{opts}.o} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			if got := fmt.Sprintf(verb, v); strings.Contains(got, "s3cret") || strings.Contains(got, fmt.Sprintf("%x", "s3cret")) {
				t.Errorf("%s shows %s", verb, got)
			}
		}
	}
}
