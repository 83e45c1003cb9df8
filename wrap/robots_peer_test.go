package wrap

import (
	"errors"
	"io"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/gopher"
	"github.com/anyurl/fetch/schemes/http"
)

// TestRobotsServers checks that robots.txt of real servers is obeyed, and that
// a server without the file allows everything.
func TestRobotsServers(t *testing.T) {
	nginx := peer.Nginx(t, peer.NginxOptions{})
	bare := peer.Nginx(t, peer.NginxOptions{})
	broken := peer.Nginx(t, peer.NginxOptions{Server: "location = /robots.txt { return 503; }"})
	gophernicus := peer.Gophernicus(t, peer.GophernicusOptions{})
	bareHole := peer.Gophernicus(t, peer.GophernicusOptions{})
	for _, s := range []*peer.Server{nginx, bare, broken, gophernicus, bareHole} {
		s.Put("public/a.txt", []byte("a\n"))
		s.Put("private/b.txt", []byte("b\n"))
	}
	for _, s := range []*peer.Server{nginx, gophernicus} {
		s.Put("robots.txt", []byte("User-agent: *\r\nDisallow: /private/\r\n"))
	}
	opts := fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{Polite(PoliteOptions{Rule: Robots("fetch")})}}
	c := fetch.New(opts, append(http.Schemes(http.Options{}), gopher.Schemes(gopher.Options{})...)...)
	defer c.Close()
	for _, at := range []struct {
		url  string
		want error
	}{
		{"http://" + nginx.Addr + "/public/a.txt", nil},
		{"http://" + nginx.Addr + "/private/b.txt", fetch.Denied},
		{"http://" + nginx.Addr + "/%70rivate/b.txt", fetch.Denied},
		{"http://" + bare.Addr + "/private/b.txt", nil},
		{"http://" + broken.Addr + "/public/a.txt", fetch.TryLater},
		{"gopher://" + gophernicus.Addr + "/0/public/a.txt", nil},
		{"gopher://" + gophernicus.Addr + "/0/private/b.txt", fetch.Denied},
		{"gopher://" + bareHole.Addr + "/0/private/b.txt", nil},
	} {
		resp, err := c.Get(t.Context(), at.url)
		if at.want == nil && err != nil || !errors.Is(err, at.want) {
			t.Errorf("%s: got %v, want %v", at.url, err, at.want)
		}
		if err == nil {
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Errorf("%s: %v", at.url, err)
			}
			resp.Body.Close()
		}
	}
}
