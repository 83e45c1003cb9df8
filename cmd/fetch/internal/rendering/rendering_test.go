package rendering_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestRender retrieves pages with --render. It checks the flags that exclude it.
func TestRender(t *testing.T) {
	peer.Need(t, "chromium", "chromium")
	peer.NeedRoot(t, "chromium in a network namespace")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<p id=x>empty</p><script src=s.js></script>`)
		case "/s.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, `x.textContent = 'built'; const w = new WebSocket('ws://' + location.host + '/')`)
		case "/long":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<body><script>document.body.append('x'.repeat(5 << 20))</script>`)
		case "/plain":
			fmt.Fprint(w, "plain text")
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		name string
		args []string
		code int
		want string // part of standard output
		omit string
	}{
		{"elements", []string{"--render", s.URL + "/"}, 0, `<p id="x">built</p>`, "empty"},
		{"text", []string{"--render=text", s.URL + "/"}, 0, "built", "<p"},
		{"redirect", []string{"--render=text", "-L", s.URL + "/moved"}, 0, "built", ""},
		{"no page", []string{"--render", s.URL + "/plain"}, 0, "plain text", "<"},
		{"several pages", []string{"--render=text", "-Z", s.URL + "/", s.URL + "/?2"}, 0, "built", "<p"},
		{"too long", []string{"--render", s.URL + "/long"}, 10, "", "x"},
		{"text too long", []string{"--render=text", s.URL + "/long"}, 10, "", "x"},
		{"error page", []string{"--render", s.URL + "/gone"}, 8, "", ""},
		{"a part", []string{"--render", "-r", "0-5", s.URL + "/"}, 2, "", ""},
		{"resume", []string{"--render", "-C", "-", "-o", "x", s.URL + "/"}, 2, "", ""},
		{"WARC file", []string{"--render", "--warc-file", "x.warc", s.URL + "/"}, 2, "", ""},
		{"another form", []string{"--render=pdf", s.URL + "/"}, 2, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := commandtest.Run(t, c.code, c.args...)
			if !strings.Contains(out, c.want) || c.omit != "" && strings.Contains(out, c.omit) {
				t.Errorf("output %q", out)
			}
		})
	}
}
