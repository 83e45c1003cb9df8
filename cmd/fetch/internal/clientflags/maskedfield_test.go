package clientflags

import (
	"strings"
	"testing"
)

// TestMaskedField checks that -v masks response header fields that may contain
// secrets, including their continuation lines.
func TestMaskedField(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"field without a secret", "Content-Type: text/html", "Content-Type: text/html"},
		{"status line", "HTTP/1.1 200 Authorized: yes", "HTTP/1.1 200 Authorized: yes"},
		{"cookie", "Set-Cookie: a=b", "Set-Cookie: ***"},
		{"token", "x-auth-token: a", "x-auth-token: ***"},
		{"authentication info", "Authentication-Info: rspauth=a", "Authentication-Info: ***"},
		{"CSRF", "X-CSRF: a", "X-CSRF: ***"},
		{"space before the colon", "Set-Cookie : a=b", "Set-Cookie: ***"},
		{"challenge", "WWW-Authenticate: Basic realm=a", "WWW-Authenticate: Basic realm=a"},
		{"challenge of a proxy", "Proxy-Authenticate: Basic", "Proxy-Authenticate: Basic"},
		{"folded field", "Set-Cookie: a\n b\n\tc\nX: d\n e", "Set-Cookie: ***\n ***\n ***\nX: d\n e"},
	} {
		var got []string
		secret := false
		for line := range strings.SplitSeq(c.in, "\n") {
			line, secret = maskedField(line, secret)
			got = append(got, line)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}
