package mirror

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// TestServerSeeds checks which URLs have the server and the service of a seed.
func TestServerSeeds(t *testing.T) {
	t.Parallel()
	client := schemes.NewClient(fetch.Typed())
	defer client.Close()
	for _, c := range []struct {
		seed, url string
		want      bool
	}{
		{"http://h.example/a/", "http://h.example/b", true},
		{"http://h.example/", "http://h.example:80/b", true},
		{"http://h.example/", "http://h.example:81/b", false},
		{"http://h.example:8080/", "https://h.example:8080/", false},
		{"http://h.example:8080/", "gopher://h.example:8080/", false},
		{"http://h.example/", "dav://h.example/", false},
		{"nntp://h.example/g", "news://h.example/1@h.example", true}, // the articles of the group
		{"nntps://h.example/g", "snews://h.example/1@h.example", true},
		{"gopher://h.example/", "gophers://h.example/", true},
		{"file:///a/", "file:///b", true}, // isBelow checks the path
		{"file:///a/", "mid:1@h.example", false},
	} {
		var s serverSeeds
		u := uri.MustParse(c.seed)
		s.add(u, client.Scheme(u.Scheme()))
		v := &visit{url: uri.MustParse(c.url)}
		v.scheme = client.Scheme(v.url.Scheme())
		v.origin, _ = originOf(v.url)
		if got := s.find(v) != ""; got != c.want {
			t.Errorf("%s for the seed %s: got %v", c.url, c.seed, got)
		}
	}
}
