package mirror_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestStoredRobots checks which results of an earlier request for robots.txt a
// run uses. The database may come from an untrusted source.
func TestStoredRobots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		robots string // in the database, with %s for the time
		age    time.Duration
		want   string // requests
	}{
		{"missing file", `{"time":"%s","code":404}`, time.Hour, "/"},
		{"23 hours", `{"time":"%s","code":403}`, 23 * time.Hour, "/"},
		{"24 hours", `{"time":"%s","code":404}`, 24 * time.Hour, "/ /robots.txt"},
		{"time in the future", `{"time":"%s","code":404}`, -time.Hour, "/ /robots.txt"},
		{"server error", `{"time":"%s","code":503}`, time.Hour, "/ /robots.txt"},
		{"429", `{"time":"%s","code":429}`, time.Hour, "/ /robots.txt"},
		{"file that the archive lacks", `{"time":"%s","code":200}`, time.Hour, "/ /robots.txt"},
		{"redirect without a target", `{"time":"%s","code":301}`, time.Hour, "/ /robots.txt"},
		{"redirect to a file", `{"time":"%s","code":301,"location":"file:///etc/passwd"}`, time.Hour, "/ /robots.txt"},
		{"redirect to another server", `{"time":"%s","code":301,"location":"http://b.example/rules"}`, time.Hour, "/ /robots.txt"},
		{"redirect", `{"time":"%s","code":301,"location":"http://a.example/rules"}`, time.Hour, "/ /rules /rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(48 * time.Hour)
				w := newNetwork(t)
				var requests []string
				w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
					requests = append(requests, r.URL.Path)
					if r.URL.Path != "/" && r.URL.Path != "/rules" {
						http.NotFound(out, r)
					}
				}))
				o := w.options("http://a.example/")
				robots := fmt.Sprintf(c.robots, time.Now().Add(-c.age).UTC().Format(time.RFC3339))
				const at = "http://a.example/robots.txt"
				plantRun(t, o.Dir, `{"seeds":["http://a.example/"]}`, frontier.Item{
					Key: frontier.KeyOf(at), URL: at, Host: "a.example", Priority: -1,
					Meta: []byte(`{"guide":true,"guess":true,"from":"http://a.example/","robots":` + robots + `}`)})
				sum := run(t, o)
				if got := sortedWords(requests); got != c.want || sum.Failed != 0 {
					t.Errorf("requests for %q, want %q, %+v", got, c.want, sum)
				}
			})
		})
	}
}

// TestForgedRobots checks that a redirect of a robots.txt that another program has
// written to the database leads to no private server that the command does not
// name.
func TestForgedRobots(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, seed, host string // host is that of the forged robots.txt
		reach            mirror.Reach
		peer             string // of the page that led to it
	}{
		{"public server", "http://a.example/", "a.example", mirror.Prefix, `,"peer":"127.0.0.1"`},
		{"private server of the seed", "http://127.0.0.1/", "127.0.0.1", mirror.Prefix, ""},
		{"another private server", "http://a.example/", "127.0.0.1", mirror.Any, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", webSite{"/": "x"})
				w.web("127.0.0.1", webSite{"/": "x"}, "127.0.0.1")
				w.web("127.0.0.2", webSite{"/x": "secret\n"}, "127.0.0.2")
				o := w.options(c.seed)
				o.Scope.Reach = c.reach
				at := "http://" + c.host + "/robots.txt"
				meta := fmt.Sprintf(`{"guide":true,"from":"http://%s/"%s,"robots":{"time":%q,"code":301,"location":"http://127.0.0.2/x"}}`,
					c.host, c.peer, time.Now().UTC().Format(time.RFC3339))
				plantRun(t, o.Dir, `{"seeds":["`+c.seed+`"]}`, frontier.Item{Key: frontier.KeyOf(at), URL: at, Host: c.host, Priority: -1, Meta: []byte(meta)})
				run(t, o)
				for _, to := range w.dialed {
					if strings.HasPrefix(to, "127.0.0.2") {
						t.Errorf("connection to %s", to)
					}
				}
			})
		})
	}
}

func sortedWords(words []string) string { return strings.ReplaceAll(sortedLines(words), "\n", " ") }

// TestLostRobots checks that a run requests a robots.txt again if its file in
// the archive was removed.
func TestLostRobots(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newNetwork(t)
		requests := 0
		w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				requests++
				fmt.Fprint(out, "User-agent: *\nDisallow: /no\n")
			}
		}))
		o := w.options("http://a.example/", "http://a.example/no")
		for nth, want := range []int{1, 1, 2, 2} {
			if nth == 2 {
				if err := os.Remove(filepath.Join(o.Dir, "tree/http/a.example/robots.txt")); err != nil {
					t.Fatal(err)
				}
			}
			run(t, o)
			if requests != want {
				t.Errorf("run %d: %d requests, want %d", nth+1, requests, want)
			}
			if e := outcome(t, o.Dir, "http://a.example/no"); mirror.State(e.State) != mirror.Excluded && e.State != "dead" {
				t.Errorf("run %d: %+v", nth+1, e)
			}
		}
		checkVerify(t, o.Dir)
	})
}
