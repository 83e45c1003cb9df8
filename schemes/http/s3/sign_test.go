package s3

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/awsfiles"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/uri"
)

// TestSignature compares the signature with the example of AWS for GET Object,
// without its Range field.
func TestSignature(t *testing.T) {
	key := awsfiles.AccessKey{ID: "AKIAIOSFODNN7EXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}
	c := call{host: "examplebucket.s3.amazonaws.com", path: "/test.txt"}
	h := c.sign("GET", key, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC), fetch.Field{Name: "range", Value: "bytes=0-9"})
	want := "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := h.Get("Authorization"); !strings.HasSuffix(got, "Signature="+want) {
		t.Error(got)
	}
	c = call{host: "examplebucket.s3.amazonaws.com", path: "/", query: "max-keys=2&prefix=J"}
	h = c.sign("GET", key, "us-east-1", time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	if got := h.Get("Authorization"); !strings.HasSuffix(got, "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") {
		t.Error(got)
	}
}

// TestSigned checks which requests are signed. Only those are for which the user
// has entered a URL of the bucket.
func TestSigned(t *testing.T) {
	page := func(text string) *fetch.Source { return &fetch.Source{URL: uri.MustParse(text)} }
	stranger, other, own := page("s3://stranger.invalid/"), page("s3://other/"), page("s3://bucket/")
	for _, test := range []struct {
		name string
		from []*fetch.Source // of the requests; nil means that the user entered the URL
		want string          // one letter for each: s for signed, u for unsigned
	}{
		{"entered", []*fetch.Source{nil}, "s"},
		{"entry of a listing", []*fetch.Source{nil, own}, "ss"},
		{"entry of a listing in another Client", []*fetch.Source{own}, "s"},
		{"seed of a stranger", []*fetch.Source{stranger}, "u"},
		{"entry of a listing of a stranger", []*fetch.Source{stranger, own}, "uu"},
		{"entry of another bucket", []*fetch.Source{other, own}, "uu"},
		{"entered later", []*fetch.Source{stranger, nil, own}, "uss"},
	} {
		got := ""
		s := newFake(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "" {
				got += "u"
				w.WriteHeader(http.StatusForbidden)
				return
			}
			got += "s"
		})
		c := schemetest.NewClient(t, Schemes(Options{Endpoint: s.URL, Getenv: environment()}))
		for _, from := range test.from {
			resp, err := c.Do(t.Context(), &fetch.Request{URL: uri.MustParse("s3://bucket/k"), From: from})
			if err == nil {
				resp.Body.Close()
			} else if !strings.Contains(err.Error(), "has not entered a URL of the bucket bucket") {
				t.Errorf("%s: %v", test.name, err)
			}
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
