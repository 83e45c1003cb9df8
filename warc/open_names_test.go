package warc

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// TestOpenSameNames checks that archives with WARC files of the same name can be
// opened and packed together.
func TestOpenSameNames(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, name := range []string{"a", "b", "c"} {
		dir := testFolder(t)
		w := testWriter(t, dir, testOptions())
		c := at("http://h.example/"+name, 1)
		mustWrite(t, w, c.Response(text(answer("HTTP/1.1 200 OK", name))), c.Request(text("GET / HTTP/1.1\r\n\r\n")))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir.Name())
	}
	a, err := Open(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	checkSameNames(t, a)
	var packed bytes.Buffer
	if err := a.Pack(&packed, Package{Created: day}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "all.wacz")
	if err := os.WriteFile(name, packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := findings(t, name); strings.Contains(got, "bad-part") {
		t.Errorf("verify: %s", got)
	}
	again, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	checkSameNames(t, again)
}

// checkSameNames checks that the archive has the captures of three archives.
func checkSameNames(t *testing.T, a *Archive) {
	t.Helper()
	for _, want := range []string{"a", "b", "c"} {
		resp, err := a.Schemes(fetch.Scheme{Name: "http"})[0].Open(fetch.Env{}).Do(t.Context(),
			&fetch.Request{URL: uri.MustParse("http://h.example/" + want)})
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if body, err := io.ReadAll(resp.Body); string(body) != want || err != nil {
			t.Errorf("body %q, %v; want %q", body, err, want)
		}
		resp.Body.Close()
	}
}
