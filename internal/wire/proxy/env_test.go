package proxy

import (
	"strings"
	"testing"
)

func TestEnv(t *testing.T) {
	for _, c := range []struct {
		name, env, scheme, want string
	}{
		{"no variables", "", "http", ""},
		{"http_proxy", "http_proxy=p:1", "http", "p:1"},
		{"HTTP_PROXY is ignored", "HTTP_PROXY=p:1", "http", ""},
		{"http_proxy is not for https", "http_proxy=p:1", "https", ""},
		{"https_proxy", "https_proxy=p:1", "https", "p:1"},
		{"HTTPS_PROXY", "HTTPS_PROXY=p:1", "https", "p:1"},
		{"lower case first", "https_proxy=p:1 HTTPS_PROXY=q:2", "https", "p:1"},
		{"empty variable", "https_proxy= HTTPS_PROXY=q:2", "https", "q:2"},
		{"ftp_proxy", "ftp_proxy=socks5h://p:1", "ftp", "socks5h://p:1"},
		{"gopher_proxy", "gopher_proxy=p:1", "gopher", "p:1"},
		{"WAIS_PROXY", "WAIS_PROXY=p:1", "wais", "p:1"},
		{"scheme in upper case", "ftp_proxy=p:1", "FTP", "p:1"},
		{"all_proxy", "all_proxy=p:1", "nntp", "p:1"},
		{"ALL_PROXY", "ALL_PROXY=p:1", "http", "p:1"},
		{"scheme variable before all_proxy", "all_proxy=a:1 imap_proxy=p:1", "imap", "p:1"},
		{"no proxy for files", "all_proxy=p:1 file_proxy=p:1", "file", ""},
		{"CGI with case-insensitive variables", "REQUEST_METHOD=GET http_proxy=evil:1 HTTP_PROXY=evil:1", "http", ""},
		{"CGI with case-sensitive variables", "REQUEST_METHOD=GET http_proxy=p:1 HTTP_PROXY=evil:1", "http", "p:1"},
		{"no_proxy", "http_proxy=p:1 no_proxy=h.test", "http", ""},
		{"NO_PROXY", "http_proxy=p:1 NO_PROXY=h.test", "http", ""},
		{"no_proxy before NO_PROXY", "http_proxy=p:1 no_proxy=other NO_PROXY=h.test", "http", "p:1"},
	} {
		e := ParseEnv(getenv(c.env))
		got, ok := e.For(c.scheme, "h.test", 80)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q for %s: %q, %v, want %q", c.name, c.env, c.scheme, got, ok, c.want)
		}
	}
	if got, ok := (Env{}).For("http", "h.test", 80); ok {
		t.Errorf("zero Env has the proxy %q", got)
	}
}

// isExempt reports whether the no_proxy list exempts host at port 80.
func isExempt(list, host string) bool {
	_, proxied := ParseEnv(func(name string) string {
		return map[string]string{"all_proxy": "p:1", "no_proxy": list}[name]
	}).For("http", host, 80)
	return !proxied
}

func getenv(env string) func(string) string {
	return func(name string) string {
		for pair := range strings.FieldsSeq(env) {
			if key, value, _ := strings.Cut(pair, "="); key == name {
				return value
			}
		}
		return ""
	}
}

// TestNoProxy first checks cases in which the result is equal to curl 7.88.1,
// with the table of curl's unit test 1614, and then the intended differences.
func TestNoProxy(t *testing.T) {
	long := strings.Repeat("127.0.0.1.", 13)
	for _, c := range []struct {
		host, list string
		direct     bool
	}{
		{"www.example.com", "localhost .example.com .example.de", true},
		{"www.example.com", "localhost,.example.com,.example.de", true},
		{"www.example.com.", "localhost,.example.com,.example.de", true},
		{"example.com", "localhost,.example.com,.example.de", true},
		{"example.com.", "localhost,.example.com,.example.de", true},
		{"www.example.com", "localhost,.example.com.,.example.de", true},
		{"www.example.com", "localhost,www.example.com.,.example.de", true},
		{"example.com", "localhost,example.com,.example.de", true},
		{"example.com.", "localhost,example.com,.example.de", true},
		{"nexample.com", "localhost,example.com,.example.de", false},
		{"www.example.com", "localhost,example.com,.example.de", true},
		{"127.0.0.1", "127.0.0.1,localhost,", true},
		{"127.0.0.1", "127.0.0.1/8,localhost,", true},
		{"127.0.0.1", "127.0.0.1/31,localhost,", true},
		{"127.0.0.1", "localhost," + long, false},
		{"localhost", "127.0.0.1,localhost", true},
		{"foobar", "barfoo", false},
		{"foobar", "foobar", true},
		{"192.168.0.1", "foobar", false},
		{"192.168.0.1", "192.168.0.0/16", true},
		{"192.168.0.1", "192.168.0.0/a16", false},
		{"192.168.0.1", "192.168.0.0/ 16", false},
		{"192.168.0.1", "192.168.0.0/32", false},
		{"192.168.0.1", "192.168.0.1/33", false},
		{"192.168.0.1", "192.168.0.0", false},
		{"192.168.1.1", "foo, bar, 192.168.0.0/24", false},
		{"192.168.1.1", "foo, bar, 192.168.0.0/16", true},
		{"192.168.1.1", ".168.1.1", false},
		{"192.168.1.1", "192.168.1.1.", false},
		{"[::1]", "::1", true},
		{"[::1]", "foo, bar, 192.168.0.0/16", false},
		{"[::1]", "foo, bar, ::1/64", true},
		{"::1", "::1/129", false},
		{"::1", "::1/127a", false},
		{"2001:db8:8000::1", "2001:db8::/32", true},
		{"2001:db8:8000::1", "2001:db8::/33", false},
		{"BAr", "foo,,,,,              bar, ::1/64", true},
		{"www.example.com", "www2.example.com, .example.net", false},
		{"www.example.com", "*.example.com", false},
		{"www.example.com", "*", true},
		{"a.b", ".", false},
		{"a.b", ",", false},
		{"a.b", "", false},
		{"foo.com", "foo.com;bar.com", false},
		{"www.h.test", "h.test", true},
		{"test", "h.test", false},

		{"www.example.com", "foo, *", true},                 // curl accepts an asterisk only as the complete list
		{"192.168.0.1", "0.0.0.0/0", true},                  // curl treats /0 as a complete address
		{"192.168.0.1", "192.168.0.0/16a", false},           // as in curl 8
		{"::1", "0:0::1", true},                             // as in curl 8
		{"::1", "[::1]", true},                              // curl does not match brackets
		{"fe80::1%lo", "fe80::1", true},                     // the zone is not compared
		{"[::1%25.example.com]", ".example.com", false},     // CVE-2025-22870
		{"::1%25.example.com", "example.com,::1", true},     //
		{"::ffff:127.0.0.1", "127.0.0.1", true},             // IPv4-mapped address
		{"127.0.0.1", "::ffff:127.0.0.1", true},             //
		{"\u212abc.test", "kbc.test", false},                // the Kelvin sign is not equal to k
		{"xn--bcher-kva.test", "bücher.test", true},         // curl compares the text
		{"www.xn--bcher-kva.test", ".BÜCHER.test", true},    //
		{"xn--bcher-kva.test", "bücher.test:81", false},     //
		{"h.test", "h.test:80", true},                       // curl does not support ports
		{"h.test", "h.test:81", false},                      //
		{"h.test.", "h.test.:80", true},                     //
		{"www.h.test", ".h.test:80", true},                  //
		{"127.0.0.1", "127.0.0.1:80", true},                 //
		{"127.0.0.1", "127.0.0.1:8080", false},              //
		{"::1", "[::1]:80", true},                           //
		{"::1", "[::1]:81", false},                          //
		{"h.test", "h.test:", false},                        //
		{"h.test", "h.test:0,h.test:65536,h.test:x", false}, //
		{"h.test", ":80", false},                            //
	} {
		if got := isExempt(c.list, c.host); got != c.direct {
			t.Errorf("%s in %q: direct %v, want %v", c.host, c.list, got, c.direct)
		}
	}
}

func FuzzNoProxy(f *testing.F) {
	f.Add("foo, .example.com:80 [::1%25x]/64 10.0.0.0/8 *", "www.example.com.")
	f.Fuzz(func(t *testing.T, list, host string) {
		if got := isExempt(list, host); got != isExempt(list, host+".") && !strings.HasSuffix(host, ".") && host != "" {
			if _, isAddr := parseLiteral(host); !isAddr {
				t.Fatalf("%q in %q: %v, and with a dot %v", host, list, got, !got)
			}
		}
	})
}
