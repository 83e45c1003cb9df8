package download_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
)

// TestStrictEnd downloads bodies of http that end with the connection.
func TestStrictEnd(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		version, field := "HTTP/1.0", ""
		switch r.URL.Path {
		case "/close":
			version, field = "HTTP/1.1", "Connection: close\r\n"
		case "/length":
			field = "Content-Length: 5\r\n"
		}
		fmt.Fprintf(conn, "%s 200 OK\r\n%s\r\nhello", version, field)
	}))
	defer s.Close()
	for _, test := range []struct {
		args []string
		exit int
	}{
		{[]string{"/old"}, 0},
		{[]string{"/close"}, 0},
		{[]string{"/old", "--strict"}, 11},
		{[]string{"/close", "--strict"}, 11},
		{[]string{"/close", "--strict", "-C", "-"}, 11},
		{[]string{"/close", "--strict", "--compressed"}, 11},
		{[]string{"/close", "--strict", "--segments", "2"}, 11},
		{[]string{"/length", "--strict"}, 0},
	} {
		t.Chdir(t.TempDir())
		commandtest.Run(t, test.exit, append([]string{"--retry", "0", "-o", "out", s.URL + test.args[0]}, test.args[1:]...)...)
		got, err := os.ReadFile("out")
		if (err == nil) != (test.exit == 0) || err == nil && string(got) != "hello" {
			t.Errorf("%q: got %q, %v", test.args, got, err)
		}
	}
}
