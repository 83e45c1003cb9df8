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
	const page, none = "shelf://localhost/1", "shelf://localhost/none"
	for _, c := range []struct {
		name, url string
		req       fetch.Request
		body      string
		fault     fetch.Fault
	}{
		{"object", page, fetch.Request{}, "page /1", 0},
		{"metadata", page, fetch.Request{Op: fetch.Stat}, "", 0},
		{"without a host", "shelf:/1", fetch.Request{}, "page /1", 0},
		{"error with a fault", none, fetch.Request{}, "", fetch.NotFound},
		{"error without a fault", "shelf://localhost/broken", fetch.Request{}, "", fetch.Internal},
		{"range at the start", page, fetch.Request{Range: fetch.Range{End: 2}}, "pa", 0},
		{"range in the middle", page, fetch.Request{Range: fetch.Range{First: 1, End: 3}}, "ag", 0},
		{"range to the end", page, fetch.Request{Range: fetch.Range{First: 5}}, "/1", 0},
		{"last bytes", page, fetch.Request{Range: fetch.Range{First: -3}}, " /1", 0},
		{"range longer than the object", page, fetch.Request{Range: fetch.Range{First: 5, End: 100}}, "/1", 0},
		{"range at the end", page, fetch.Request{Range: fetch.Range{First: 7}}, "", 0},
		{"range behind the end", page, fetch.Request{Range: fetch.Range{First: 8}}, "", fetch.Denied},
		{"range of another version", page, fetch.Request{Range: fetch.Range{First: 1}, IfSame: "old"}, "page /1", 0},
		{"start of another version", page, fetch.Request{Range: fetch.Range{End: 2}, IfSame: "old"}, "page /1", 0},
	} {
		c.req.URL = uri.MustParse(c.url)
		resp, err := client.Do(context.Background(), &c.req)
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
