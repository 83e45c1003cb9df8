package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror"
)

// TestFrontierStatus checks that the counts of frontier status add up to the
// number of URLs, and that its help text describes each field.
func TestFrontierStatus(t *testing.T) {
	t.Parallel()
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("a", []byte("a"))
	web.Put("b", []byte("b"))
	url, dir := "http://"+web.Addr+"/", t.TempDir()
	for _, c := range []struct {
		name string
		exit int
		args []string
		want map[string]int64
	}{
		{"two URLs exist, two do not", 8, []string{url + "a", url + "b", url + "none", url + "nothing"},
			map[string]int64{"urls": 5, "done": 2, "dead": 2, "excluded": 1}},
		{"one failed URL is not requested again", 8, []string{url + "a", url + "none"},
			map[string]int64{"urls": 5, "done": 2, "dead": 1, "excluded": 1, "earlier": 1}},
		{"limit of files", 10, []string{"--max-files", "1", url + "a", url + "b", url + "none", url + "links.html",
			url + "x"}, nil},
	} {
		if c.want == nil {
			web.Put("links.html", []byte("<a href=x>"))
			web.Put("x", []byte("x"))
		}
		runFetch(t, c.exit, append([]string{"mirror", "--tries", "1", "--output-dir", dir}, c.args...)...)
		var s mirror.Stats
		if err := json.Unmarshal([]byte(runFetch(t, 0, "frontier", "status", dir)), &s); err != nil {
			t.Fatal(err)
		}
		sum := s.Earlier
		for _, n := range s.States {
			sum += n
		}
		if sum != s.URLs || s.Earlier < 0 {
			t.Errorf("%s: the counts do not add up: %+v", c.name, s)
		}
		for field, want := range c.want {
			got := map[string]int64{"urls": s.URLs, "earlier": s.Earlier}
			if n, ok := s.States[mirror.State(field)]; ok {
				got[field] = n
			}
			if got[field] != want {
				t.Errorf("%s: want %s %d: %+v", c.name, field, want, s)
			}
		}
	}
	help := runFetch(t, 0, "help", "frontier", "status")
	for f := range reflect.TypeFor[mirror.Stats]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		contains(t, help, "\n  "+name+" ")
	}
}
