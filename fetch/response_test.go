package fetch

import (
	"encoding/json"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
)

// TestYearLimit checks that a time with a year outside of 0 to 9999 becomes
// zero.
func TestYearLimit(t *testing.T) {
	west, east := time.FixedZone("", -12*3600), time.FixedZone("", 14*3600)
	for _, test := range []struct {
		at    time.Time
		known bool
	}{
		{time.Date(9999, 12, 31, 23, 59, 59, 0, west), false},
		{time.Date(10000, 1, 1, 0, 0, 0, 0, east), false},
		{time.Date(0, 1, 1, 0, 0, 0, 0, east), false},
		{time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), true},
		{time.Date(2000, 1, 1, 0, 0, 0, 0, west), true},
	} {
		s := page(func(_ *Request, resp *Response) {
			text(resp, "")
			resp.Kind, resp.Time = Menu, test.at
		})
		s.Menu = func(uri.URI, string, io.Reader) iter.Seq2[Entry, error] {
			return func(yield func(Entry, error) bool) { yield(Entry{Time: test.at}, nil) }
		}
		c := New(Options{Dial: (&recorder{}).dial}, s)
		resp, err := c.Get(t.Context(), "http://8.8.8.8/")
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range resp.Entries() {
			if err != nil || e.Time.IsZero() == test.known || resp.Time.IsZero() == test.known {
				t.Errorf("%v: the entry is of %v, the response of %v, %v", test.at, e.Time, resp.Time, err)
			}
		}
		if _, err := json.Marshal(Entry{Time: test.at}); err != nil {
			t.Errorf("%v: %v", test.at, err)
		}
		c.Close()
	}
}
