package dirlist_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/uri"
)

var update = flag.Bool("update", false, "rewrite the entries in testdata for review")

// TestMenu parses the listings in testdata. Each file contains a media type, a
// listing and the expected entries, one per line.
func TestMenu(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no listings in testdata")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			media, listing := strings.TrimSpace(string(archive.Files[0].Data)), string(archive.Files[1].Data)
			got := entries(t, media, listing)
			if *update {
				archive.Files = append(archive.Files[:2], txtar.File{Name: "entries", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want := string(archive.Files[2].Data)
			compare(t, got, want)
			compare(t, entries(t, media, strings.ReplaceAll(listing, "\n", "\r\n")), want)
			compare(t, entries(t, media, strings.TrimSuffix(listing, "\n")), want)
		})
	}
}

func compare(t *testing.T, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "", ""
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Errorf("entry %d\n got %s\nwant %s", i+1, a, b)
			return
		}
	}
}

func entries(t *testing.T, media, listing string) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	base := uri.MustParse("ftp://alice:secret@h/dir/")
	for e, err := range dirlist.Menu(base, media, iotest.OneByteReader(strings.NewReader(listing))) {
		if err != nil {
			t.Fatal(err)
		}
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestBase(t *testing.T) {
	for _, test := range []struct{ base, name, want string }{
		{"ftp://h", "x", "ftp://h/x"},
		{"ftp://h/", "x", "ftp://h/x"},
		{"ftp://h/a", "x", "ftp://h/a/x"},
		{"ftp://h/a;type=d", "x", "ftp://h/a/x"},
		{"ftp://h/a/;type=D", "x", "ftp://h/a/x"},
		{"ftp://h/a;b", "x", "ftp://h/a;b/x"},
		{"ftp://h/a?b/", "x", "ftp://h/a%3Fb/x"},
		{"ftp://h/a/#f", "x", "ftp://h/a/x"},
		{"ftp://bob:pw@h:2121//", "x", "ftp://bob@h:2121//x"},
		{"ftp://h/a/", "a b;type=a?%/c", ""}, // URL outside the directory
		{"ftp://h/a/", "a b;type=a?%#:@é", "ftp://h/a/a%20b%3Btype=a%3F%25%23:@%C3%A9"},
		{"ftp://h/a/", "\xe9\xff", "ftp://h/a/%E9%FF"},
		{"ftp://h/a/", "a\rb", ""},
	} {
		for e, err := range dirlist.Menu(uri.MustParse(test.base), "text/x-ftp-list; dialect=names", strings.NewReader(test.name+"\n")) {
			if err != nil || e.URL.Unredacted() != test.want || (test.want == "") != (e.Kind == fetch.Info) {
				t.Errorf("%s in %s: got %v, %s, %v, want %s", test.name, test.base, e.Kind, e.URL, err, test.want)
			}
		}
	}
}

func TestLatin1(t *testing.T) {
	for e, err := range dirlist.Menu(uri.MustParse("ftp://h/"), "text/x-ftp-list; dialect=names", strings.NewReader("caf\xe9\n")) {
		if err != nil || e.Name != "café" || e.Extra["charset"] != "iso-8859-1" || e.Raw != "caf\xe9" {
			t.Errorf("got %+v, %v", e, err)
		}
	}
}

func TestMediaType(t *testing.T) {
	at := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, p := range []dirlist.Params{{Dialect: dirlist.MLSD, At: at, UTF8: true}, {Dialect: dirlist.List}} {
		got, err := dirlist.ParseMediaType(dirlist.MediaType(p))
		if err != nil || got != p {
			t.Errorf("got %+v, %v, want %+v", got, err, p)
		}
	}
	for _, media := range []string{"", "text/html", "text/x-ftp-list; dialect", "text/x-ftp-list; a=b; a=c"} {
		if p, err := dirlist.ParseMediaType(media); !errors.Is(err, fetch.Unsupported) {
			t.Errorf("%q: got %+v, %v", media, p, err)
		}
	}
}

// TestHostile checks that invalid listings use little memory and end with an
// error.
func TestHostile(t *testing.T) {
	for _, test := range []struct {
		name    string
		listing func(p []byte)
		fault   fetch.Fault
	}{
		{"line of unlimited length", func(p []byte) { fill(p, 'x') }, fetch.Protocol},
		{"unlimited number of lines", func(p []byte) { fill(p, '\n') }, fetch.TooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var last error
			for _, err := range dirlist.Menu(uri.MustParse("ftp://h/"), "text/x-ftp-list; dialect=list", endless(test.listing)) {
				last = err
			}
			runtime.ReadMemStats(&after)
			if fetch.FaultOf(last) != test.fault {
				t.Errorf("got %v, want %v", last, test.fault)
			}
			if live := int64(after.HeapAlloc) - int64(before.HeapAlloc); live > 8<<20 {
				t.Errorf("%d bytes are retained", live)
			}
		})
	}
}

type endless func(p []byte)

func (e endless) Read(p []byte) (int, error) {
	e(p)
	return len(p), nil
}

func fill(p []byte, c byte) {
	for i := range p {
		p[i] = c
	}
}
