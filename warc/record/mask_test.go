package record

import (
	"strings"
	"testing"
)

// TestMaskSecrets checks that the record of a request has its request line, and
// no value of a secret field.
func TestMaskSecrets(t *testing.T) {
	for _, c := range []struct{ name, sent, want string }{
		{"field", "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: Basic eDp5\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: ***\r\n\r\n"},
		{"word in the path", "GET /wiki/Author:Bob HTTP/1.1\r\nHost: h\r\n\r\n", "GET /wiki/Author:Bob HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"word in the host", "GET http://keys.test:80/ HTTP/1.1\r\nCookie: a=b\r\n\r\n", "GET http://keys.test:80/ HTTP/1.1\r\nCookie: ***\r\n\r\n"},
		{"nothing sent", "", ""},
	} {
		got, err := maskSecrets(strings.NewReader(c.sent))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
	}
}
