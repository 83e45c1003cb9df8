package httpauth

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	type params = map[string]string
	for _, c := range []struct {
		name   string
		fields []string
		want   []Challenge
	}{
		{"basic", []string{`Basic realm="a b"`}, []Challenge{{"basic", params{"realm": "a b"}}}},
		{"unquoted", []string{`basic realm=ab`}, []Challenge{{"basic", params{"realm": "ab"}}}},
		{"two challenges in two fields", []string{`Basic realm="a"`, `Digest realm="b", nonce="c"`},
			[]Challenge{{"basic", params{"realm": "a"}}, {"digest", params{"realm": "b", "nonce": "c"}}}},
		{"two challenges in one field", []string{`Digest realm="b", qop="auth,auth-int", nonce="c", Basic realm="a"`},
			[]Challenge{{"digest", params{"realm": "b", "qop": "auth,auth-int", "nonce": "c"}}, {"basic", params{"realm": "a"}}}},
		{"scheme without parameters", []string{`Negotiate, NTLM`}, []Challenge{{"negotiate", params{}}, {"ntlm", params{}}}},
		{"token68", []string{`Negotiate YII=, Basic realm=a`}, []Challenge{{"negotiate", params{"yii": ""}}, {"basic", params{"realm": "a"}}}},
		{"escapes and commas in quotes", []string{`Basic realm="a\", \\b"`}, []Challenge{{"basic", params{"realm": `a", \b`}}}},
		{"blanks", []string{` Basic  realm = "a" ,, charset = UTF-8 `}, []Challenge{{"basic", params{"realm": "a", "charset": "UTF-8"}}}},
		{"first value wins", []string{`Basic realm=a, Realm=b`}, []Challenge{{"basic", params{"realm": "a"}}}},
		{"unterminated quote", []string{`Basic realm="a, b`}, []Challenge{{"basic", params{"realm": `"a, b`}}}},
		{"empty quotes", []string{`Basic realm=""`}, []Challenge{{"basic", params{"realm": ""}}}},
		{"escape at the end", []string{`Basic realm="a\`}, []Challenge{{"basic", params{"realm": `"a\`}}}},
		{"escaped last quote", []string{`Basic realm="a\"`}, []Challenge{{"basic", params{"realm": `a\`}}}},
		{"parameter without a scheme", []string{`realm="a"`}, []Challenge{{"realm", params{}}}},
		{"empty field", []string{"", ",", `"x"`}, nil},
		{"challenge ends with its field", []string{`Basic realm=a`, `nonce=b`},
			[]Challenge{{"basic", params{"realm": "a"}}, {"nonce", params{}}}},
	} {
		if got := Parse(c.fields); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q parsed as %v, want %v", c.name, c.fields, got, c.want)
		}
	}
	if got := Parse([]string{strings.Repeat("A b=c,", 1000)}); len(got) != maxChallenges {
		t.Errorf("%d challenges, want %d", len(got), maxChallenges)
	}
}

// TestDigest checks the examples of RFC 7616 3.9.1 and RFC 2617 3.5.
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
		// The expected response was computed with Python's hashlib.
		{"only auth-int", `Digest realm="r", nonce="n", qop="auth-int"`, Login{"u", "p"}, "GET", "/", "c",
			[]string{`response="7eeb55b7f6f7bbb156ec8ed04a13f5a5"`, "qop=auth-int"}},
		{"quotes in the user", `Digest realm="r", nonce="n"`, Login{`a"b\c`, "p"}, "GET", "/", "",
			[]string{`username="a\"b\\c"`}},
		// printf u:r | md5sum
		{"hashed user", `Digest realm="r", nonce="n", userhash=true`, Login{"u", "p"}, "GET", "/", "",
			[]string{`username="ba84be203fdfc7d34e054a76d285d0c9"`, ", userhash=true"}},
	} {
		got, err := Parse([]string{c.challenge})[0].digest(c.login, c.method, c.uri, c.cno, 1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, part := range c.want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: %s lacks %s", c.name, got, part)
			}
		}
		if asked := strings.Contains(c.challenge, "userhash"); strings.Contains(got, "userhash") != asked {
			t.Errorf("%s: got %s, want userhash %t", c.name, got, asked)
		}
	}
}

func TestDigestUnusable(t *testing.T) {
	for _, challenge := range []string{
		`Digest realm="r"`,
		`Digest realm="r", nonce="n", algorithm=SHA-1`,
		`Digest realm="r", nonce="n", qop="x"`,
		`Digest realm="r", nonce="n", qop=""`,
		`Negotiate x=y`,
	} {
		if got, err := Parse([]string{challenge})[0].Answer(Login{"mary", "s3cret"}, "GET", "/", 1); err == nil {
			t.Errorf("%s: got response %s, want an error", challenge, got)
		}
	}
}
