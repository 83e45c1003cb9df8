package fetch

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestTrustedRedirect checks that Policy.LocationTrusted passes a credential only to
// schemes that send it in the same form.
func TestTrustedRedirect(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"http://8.8.8.8/", "http://1.1.1.1/", "user user"},
		{"http://8.8.8.8/", "https://8.8.8.8/", "user user"},
		{"http://8.8.8.8/", "ftp://1.1.1.1/", "user -"},
		{"http://8.8.8.8/", "ftp://8.8.8.8/", "user -"},
		{"ftp://8.8.8.8/", "ftp://1.1.1.1/", "user user"},
	} {
		var saw []string
		answer := func(req *Request, resp *Response) {
			name := "-"
			if req.Auth != nil {
				name = req.Auth.User
			}
			saw = append(saw, name)
			if text(resp, ""); len(saw) == 1 {
				resp.Location = uri.MustParse(c.to)
			}
		}
		plain, secure := page(answer), pageOf("https", 443, answer)
		plain.Traits.Web, secure.Traits.Web = true, true
		policy := Typed()
		policy.LocationTrusted = true
		client := New(Options{Policy: policy, Dial: (&recorder{}).dial}, plain, secure, pageOf("ftp", 21, answer))
		req := &Request{URL: uri.MustParse(c.from), Auth: &Credential{User: "user", Password: "secret"}}
		if _, err := client.Do(t.Context(), req); err != nil || strings.Join(saw, " ") != c.want {
			t.Errorf("%s to %s: got %v, %v, want %s", c.from, c.to, saw, err, c.want)
		}
		client.Close()
	}
}

// TestErrorText checks the length of an error with a long text from a server.
func TestErrorText(t *testing.T) {
	for _, op := range []string{"", "get"} {
		e := &Error{Op: op, URL: "https://example.org/", Err: TLS.Errorf("certificate is valid for %s", strings.Repeat("name ", 10_000))}
		if op == "" {
			e.URL = ""
		}
		if n := len(e.Error()); n > maxCause+100 || !strings.HasSuffix(e.Error(), "…") {
			t.Errorf("%q: text of %d bytes", op, n)
		}
	}
}
