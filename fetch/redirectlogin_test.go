package fetch

import (
	"crypto/tls"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
)

// TestRedirectLogin checks that RedirectLogin supplies the credential for
// another origin, except for a plaintext scheme after TLS.
func TestRedirectLogin(t *testing.T) {
	const a, b, c = "198.41.0.4", "8.8.8.8", "1.1.1.1"
	page := &Source{URL: uri.MustParse("http://" + a + "/page")}
	for _, test := range []struct {
		name string
		from *Source
		auth bool // the request has a credential
		tls  bool // the first response uses TLS, regardless of the scheme
		urls []string
		want string // the user that each hop received
	}{
		{"other host", nil, true, false, []string{"http://" + a + "/", "http://" + b + "/"}, "own b"},
		{"host without an entry", nil, true, false, []string{"http://" + a + "/", "http://" + c + "/"}, "own -"},
		{"and on at the same origin", nil, true, false, []string{"http://" + a + "/", "http://" + b + "/", "http://" + b + "/2"}, "own b b"},
		{"through a host without an entry", nil, false, false, []string{"http://" + a + "/", "http://" + c + "/", "http://" + b + "/"}, "- - b"},
		{"back home, by the entry", nil, true, false, []string{"http://" + b + "/", "http://" + c + "/", "http://" + b + "/3"}, "own - b"},
		{"other port of the typed host", nil, true, false, []string{"http://" + b + "/", "http://" + b + ":8080/"}, "own -"},
		{"other port, through another host", nil, true, false, []string{"http://" + b + "/", "http://" + c + "/", "http://" + b + ":8080/"}, "own - -"},
		{"default port of the typed host", nil, true, false, []string{"http://" + b + ":8080/", "http://" + b + "/"}, "own -"},
		{"typed host, plaintext to TLS", nil, true, false, []string{"http://" + b + "/", "https://" + b + "/"}, "own b"},
		{"typed host, plaintext to TLS on another port", nil, true, false, []string{"http://" + b + "/", "https://" + b + ":8443/"}, "own -"},
		{"typed host, TLS on the plaintext port", nil, true, false, []string{"http://" + b + ":8080/", "https://" + b + ":8080/"}, "own b"},
		{"other host, other port", nil, true, false, []string{"http://" + a + "/", "http://" + b + ":8080/"}, "own b"},
		{"other protocol", nil, true, false, []string{"http://" + a + "/", "ftp://" + b + "/"}, "own -"},
		{"other protocol of the typed host", nil, true, false, []string{"http://" + b + "/", "ftp://" + b + "/"}, "own -"},
		{"plaintext to TLS", nil, true, false, []string{"http://" + a + "/", "https://" + b + "/"}, "own b"},
		{"TLS to TLS", nil, true, false, []string{"https://" + a + "/", "https://" + b + "/"}, "own b"},
		{"TLS to plaintext", nil, true, false, []string{"https://" + a + "/", "http://" + b + "/"}, "own -"},
		{"TLS to plaintext on the same host", nil, true, false, []string{"https://" + b + "/", "http://" + b + "/"}, "own -"},
		{"TLS to plaintext to plaintext", nil, true, false, []string{"https://" + a + "/", "http://" + c + "/", "http://" + b + "/"}, "own - -"},
		{"TLS to plaintext to TLS", nil, true, false, []string{"https://" + a + "/", "http://" + c + "/", "https://" + b + "/"}, "own - b"},
		{"TLS begun later, to plaintext", nil, true, true, []string{"http://" + a + "/", "http://" + b + "/"}, "own -"},
		{"user in the Location", nil, true, false, []string{"http://" + a + "/", "http://evil:pw@" + b + "/"}, "own b"},
		{"a link, not typed", page, false, false, []string{"http://" + a + "/", "http://" + b + "/"}, "- -"},
	} {
		var saw, notes []string
		answer := func(req *Request, resp *Response) {
			user := "-"
			if req.Auth != nil {
				user = req.Auth.User
				if got := req.Auth.Origin.Host; got != req.URL.Host() {
					t.Errorf("%s: credential for %s sent to %s", test.name, got, req.URL.Host())
				}
			}
			saw = append(saw, user)
			text(resp, "")
			if test.tls && len(saw) == 1 {
				resp.TLS = &tls.ConnectionState{}
			}
			if n := len(saw); n < len(test.urls) {
				resp.Location = uri.MustParse(test.urls[n])
			}
		}
		policy := Typed()
		policy.Downgrade = true
		client := New(Options{
			Policy: policy, Dial: (&recorder{}).dial,
			RedirectLogin: func(o Origin) *Credential {
				if o.Host != b {
					return nil
				}
				return &Credential{User: "b", Password: "pw"}
			},
		}, pageOf("http", 80, answer), pageOf("https", 443, answer), pageOf("ftp", 21, answer))
		req := &Request{URL: uri.MustParse(test.urls[0]), From: test.from}
		req.Trace = &trace.Trace{Note: func(text string) { notes = append(notes, text) }}
		if test.auth {
			req.Auth = &Credential{User: "own"}
		}
		resp, err := client.Do(t.Context(), req)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		resp.Body.Close()
		if got := strings.Join(saw, " "); got != test.want {
			t.Errorf("%s: hops saw %q, want %q", test.name, got, test.want)
		}
		client.Close()
		plaintext := 0 // hops that received a login in plaintext
		for i, user := range saw {
			if user == "b" && strings.HasPrefix(test.urls[i], "http:") && saw[i-1] != "b" {
				plaintext++
			}
		}
		if told := strings.Count(strings.Join(notes, "\n"), "login for "+b+" is sent in plaintext"); told != plaintext {
			t.Errorf("%s: %d notes on plaintext, want %d: %q", test.name, told, plaintext, notes)
		}
	}
}
