package fetch_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestFuncScheme checks the responses of a scheme that is a function.
func TestFuncScheme(t *testing.T) {
	shelf := fetch.FuncScheme("shelf", func(u uri.URI) (media, object string, err error) {
		switch u.Path() {
		case "/none":
			return "", "", fetch.NotFound.Errorf("no such page")
		case "/broken":
			return "", "", errors.New("broken")
		}
		return "text/plain", "page " + u.Path(), nil
	})
	client := fetch.New(fetch.Options{Policy: fetch.Typed()}, shelf)
	defer client.Close()
	for _, c := range []struct {
		name, url string
		op        fetch.Op
		body      string
		fault     fetch.Fault
	}{
		{"object", "shelf://localhost/1", fetch.Get, "page /1", 0},
		{"metadata", "shelf://localhost/1", fetch.Stat, "", 0},
		{"without a host", "shelf:/1", fetch.Get, "page /1", 0},
		{"error with a fault", "shelf://localhost/none", fetch.Get, "", fetch.NotFound},
		{"error without a fault", "shelf://localhost/broken", fetch.Get, "", fetch.Internal},
	} {
		resp, err := client.Do(context.Background(), &fetch.Request{URL: uri.MustParse(c.url), Op: c.op})
		if c.fault != 0 {
			if fetch.FaultOf(err) != c.fault {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if string(body) != c.body || err != nil || resp.Media != "text/plain" || resp.Size != 7 || resp.Kind != fetch.Document {
			t.Errorf("%s: got %q, %v, %+v", c.name, body, err, resp)
		}
		resp.Body.Close()
	}
}
