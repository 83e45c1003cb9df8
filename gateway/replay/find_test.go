package replay

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

// TestPostBudget checks the memory for the bodies of requests at one time.
func TestPostBudget(t *testing.T) {
	u := uri.MustParse("http://h.example/")
	for _, c := range []struct {
		name string
		size int64 // value of Content-Length, or -1
		want int   // number of requests at one time
	}{
		{"unknown size", -1, maxPosts / maxPosted},
		{"long body", 10 * maxPosted, maxPosts / maxPosted},
		{"half of the limit", maxPosted / 2, 2 * maxPosts / maxPosted},
	} {
		var b postBudget
		r := httptest.NewRequest("POST", u.String(), strings.NewReader("a=1"))
		r.ContentLength = c.size
		var all []func()
		for {
			_, release, err := b.requestOf(r, u)
			if errors.Is(err, errBusy) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, release); len(all) > c.want {
				break
			}
		}
		if len(all) != c.want {
			t.Errorf("%s: %d requests, want %d", c.name, len(all), c.want)
		}
		for _, release := range all {
			release()
		}
		if _, _, err := b.requestOf(r, u); err != nil {
			t.Errorf("%s: after the others: %v", c.name, err)
		}
	}
	w := httptest.NewRecorder()
	if refusePost(w, errBusy); w.Code != http.StatusServiceUnavailable {
		t.Errorf("code %d", w.Code)
	}
}
