package replay

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/uri"
)

// FuzzName checks that a host name that is accepted is the only one of its
// archived origin.
func FuzzName(f *testing.F) {
	s := newSite(f, testAddress, Archive{"a", openSamples(f, samples...)})
	for _, text := range []string{"https.a.example.20240101000000.a", "http-81.x-0123456789abcdef0123456789abcdef.20240101000000.a", "http.a.b.c.d.20241231235959.a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := s.parseName(text)
		if !ok {
			return
		}
		if got := strings.TrimSuffix(s.hostOf(n), topDomain+":"+s.port); got != text {
			t.Errorf("%q names %+v, whose host name is %q", text, n, got)
		}
	})
}

// FuzzReplaceURLs checks that a page contains no URL of another host in an
// import, and that the bytes outside of the imports stay.
func FuzzReplaceURLs(f *testing.F) {
	s := newSite(f, testAddress, Archive{"a", openSamples(f, samples...)})
	n := name{archive: s.order[0], time: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	n.setOrigin(uri.MustParse("https://a.example/"))
	f.Add([]byte(`<script type=importmap>{"imports":{"a":"https://b.example/a.js"}}</script><script>import "https://b.example/"</script>`))
	f.Add([]byte(`<script>import("http://[")</script><script`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got := s.withModules(n, text); !bytes.Contains(text, []byte("://")) && !bytes.Equal(got, text) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
