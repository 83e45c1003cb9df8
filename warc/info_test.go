package warc

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestInfo reads the fields of a folder with two files, and of a WACZ file with
// one of them.
func TestInfo(t *testing.T) {
	dir := testFolder(t)
	for n, seed := range []string{"http://a.example/", "http://b.example/"} {
		opts := testOptions()
		opts.Name = string(rune('a'+n)) + ".warc.gz"
		opts.Info = fetch.Header{{Name: "seed", Value: "http://both.example/"}, {Name: "seed", Value: seed}}
		w := testWriter(t, dir, opts)
		mustWrite(t, w, at("http://h.example/", n).Resource("text/html", strings.NewReader("<title>t</title>")))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// A file that begins with another record has no fields.
	if err := os.WriteFile(filepath.Join(dir.Name(), "c.warc"), []byte(res(1, "")), 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got := strings.Join(a.Info().Values("seed"), " "); got != "http://both.example/ http://a.example/ http://b.example/" {
		t.Errorf("seeds %s", got)
	}
	for e, err := range a.Pages() {
		t.Errorf("WARC files have a list of pages: %v, %v", e, err)
	}
	one, err := Open(filepath.Join(dir.Name(), "a.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	var b bytes.Buffer
	if err := one.Pack(&b, Package{Title: "A title", Created: day}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.wacz")
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	packed, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	info := packed.Info()
	if info.Get("title") != "A title" || info.Get("created") == "" || len(info.Values("seed")) != 2 {
		t.Errorf("fields of the WACZ file: %v", info)
	}
}

// TestPages reads lists of pages of a WACZ file with unusual lines.
func TestPages(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.wacz")
	file := zipOf(t, map[string]string{
		"archive/a.warc": res(1, ""), "datapackage.json": "{}",
		"pages/pages.jsonl": `{"format":"json-pages-1.0","id":"pages"}` + "\n" +
			`{"url":"http://a.example/","ts":"2026-11-21T08:30:02Z","title":"A","seed":true}` + "\r\nno JSON\n\n" +
			`{"url":"http://b.example/","ts":"yesterday","title":"B"}` + "\n" + `{"url":"no URL"}` + "\n" +
			`{"url":"http://long.example/","text":"` + strings.Repeat("x", maxPageLine) + `"}` + "\n" + `{"url":"gopher://c.example/"}`,
		"pages/extraPages.jsonl": `{"url":"http://d.example/","title":"D"}`,
		"stored":                 strings.Repeat("x", 1<<20), // a smaller file must not expand to the long line
	})
	if err := os.WriteFile(name, file, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var got []string
	for e, err := range a.Pages() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.URL.String()+" "+e.Name+" "+e.Extra["seed"]+" "+e.Time.Format("15:04:05"))
	}
	want := "http://a.example/ A true 08:30:02,http://b.example/ B  00:00:00,gopher://c.example/   00:00:00,http://d.example/ D  00:00:00"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
	for range a.Pages() {
		break // closes the file
	}
}

// zipOf returns a zip file with uncompressed parts, except pages.
func zipOf(t *testing.T, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range parts {
		method := zip.Store
		if strings.HasPrefix(name, "pages/") {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FuzzPage checks that a line of a list of pages never causes a panic, and that
// an accepted line has a URL.
func FuzzPage(f *testing.F) {
	f.Add([]byte(`{"url":"http://a.example/","ts":"2026-11-21T08:30:02Z","title":"A","seed":true}`))
	f.Add([]byte(`{"url":"http://a.example/","ts":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if e, ok := pageEntry(line); ok && e.URL.IsZero() {
			t.Fatalf("%q: no URL", line)
		}
	})
}
