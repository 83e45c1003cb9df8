package fetch

import (
	"errors"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

// TestLongURL checks that a URL of 64 KiB is requested and a longer one is
// rejected. CVE-2019-5435 was an integer overflow at such a length.
func TestLongURL(t *testing.T) {
	asked := 0
	c := New(Options{Policy: Typed()}, Scheme{
		Name: "x-test",
		Plan: func(*Request) ([]scheme.Step, error) { asked++; return nil, nil },
		Open: func(Env) Driver { return DriverFunc(nil) },
	})
	defer c.Close()
	for _, test := range []struct {
		length int
		want   error
	}{{maxURL, nil}, {maxURL + 1, BadURL}, {100 * maxURL, BadURL}} {
		asked = 0
		u := uri.MustParse("x-test:" + strings.Repeat("a", test.length-len("x-test:")))
		_, err := c.Plan(&Request{URL: u})
		if !errors.Is(err, test.want) || (asked == 1) != (test.want == nil) {
			t.Errorf("%d bytes: %v, asked %d times", test.length, err, asked)
		}
		if test.want == nil {
			continue
		}
		if _, err := c.Do(t.Context(), &Request{URL: u}); !errors.Is(err, test.want) {
			t.Errorf("%d bytes: %v", test.length, err)
		}
	}
}
