package nfs_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/wire/oncrpc"
	"github.com/anyurl/fetch/schemes/nfs"
	"github.com/anyurl/fetch/uri"
)

// FuzzResults: any results of a server become a file or a listing whose entries
// are below the directory, or an error.
func FuzzResults(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00"), byte(17))
	f.Add(append(numbers(0, 0, 0, 0, 1, 0, 1), append(opaque("x"), numbers(0, 9, 0, 0, 0, 1)...)...), byte(17))
	f.Add(append(numbers(0, 0, 26, 1), opaque("hello, public file handle\n")...), byte(6))
	f.Add(append(numbers(0, 0), opaque("../../x")...), byte(5))
	f.Fuzz(func(t *testing.T, results []byte, number byte) {
		p := publicServer()
		p[uint32(number)] = func(*oncrpc.Decoder) (uint32, []byte) { return 0, results }
		path := map[byte]string{17: "pub", 5: "pub/link"}[number]
		if path == "" {
			path = "pub/a%20b"
		}
		c, _ := serve(t, faultnet.Script{p.serve()})
		resp, err := c.Get(t.Context(), host+path)
		if err != nil {
			return
		}
		if resp.Kind != fetch.Menu {
			schemetest.Drain(resp, err)
			return
		}
		for e, err := range resp.Entries() {
			if err == nil && !e.URL.IsZero() && !strings.HasPrefix(e.URL.String(), host+"pub/") {
				t.Errorf("entry %+v", e)
			}
		}
	})
}

// FuzzLocator: a URL is rejected, or its plan has one path without names that
// lead elsewhere.
func FuzzLocator(f *testing.F) {
	f.Add("nfs://h/a%20b//c/")
	f.Add("nfs://h//abs/%2e%2e")
	scheme := nfs.Schemes(nfs.Options{})[0]
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil || u.Scheme() != "nfs" {
			return
		}
		steps, err := scheme.Plan(&fetch.Request{URL: u})
		if err != nil {
			return
		}
		for _, step := range steps {
			if step.Verb == "lookup" && (strings.Contains(step.Arg, "/../") || strings.Contains(step.Arg, `\x00`)) {
				t.Errorf("%s: %v", s, steps)
			}
		}
	})
}
