package warc

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func replayText(t *testing.T, a *Archive, url string) (string, error) {
	t.Helper()
	resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url)})
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// TestOpenPackage replays captures from a WACZ file with an index.
func TestOpenPackage(t *testing.T) {
	a := openSample(t)
	path := filepath.Join(t.TempDir(), "sample.wacz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := a.Pack(f, Package{}); err != nil {
		t.Fatal(err)
	}
	packed, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	packed.Decode = true
	for _, url := range []string{"http://h.example/copy", "gopher://h.example/1/", "http://h.example/gzip",
		"imap://me@h.example/INBOX;UIDVALIDITY=1/;UID=2"} {
		want, err1 := replayText(t, a, url)
		got, err2 := replayText(t, packed, url)
		if got != want || got == "" || err1 != nil || err2 != nil {
			t.Errorf("%s: got %q, %v; want %q, %v", url, got, err2, want, err1)
		}
	}
	// Packing the WACZ file again must return the same parts.
	var again bytes.Buffer
	if err := packed.Pack(&again, Package{}); err != nil {
		t.Error(err)
	}
	if z, err := zip.NewReader(bytes.NewReader(again.Bytes()), int64(again.Len())); err != nil || len(z.File) != 5 {
		t.Errorf("packing again: %v", err)
	}
}

// TestOpenPackages opens WACZ files with compressed, missing and invalid
// indexes and parts.
func TestOpenPackages(t *testing.T) {
	record := res(1, "\nWARC-Type: resource")
	line := Line{Key: "file:///1", Timestamp: "20261121083000", URL: "file:///1", Length: 1, File: "a.warc"}.String() +
		"\n"
	for _, tc := range []struct {
		name  string
		parts map[string]string
		store bool
		fault error
	}{
		{"no index", map[string]string{"archive/a.warc": record}, true, nil},
		{"compressed index", map[string]string{"archive/a.warc": record,
			"indexes/index.cdx.gz": gzipped("!meta 0 {}\n" + line), "indexes/index.idx": "no CDXJ"}, true, nil},
		{"index with a wrong offset", map[string]string{"archive/a.warc": res(2, ""), "indexes/index.cdx": line}, true,
			fetch.Mismatch},
		{"index of another archive", map[string]string{"archive/b.warc": record, "indexes/index.cdx": line}, true,
			fetch.NotFound},
		{"compressed WARC file", map[string]string{"archive/a.warc": record}, false, fetch.Unsupported},
		{"index larger than the limit",
			map[string]string{"archive/a.warc": record,
				"indexes/index.cdx.gz": gzipped(strings.Repeat("a\n", 1<<20))}, true, fetch.Bomb},
		{"no zip file", nil, true, fetch.Mismatch},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for name, text := range tc.parts {
				method := zip.Deflate
				if tc.store {
					method = zip.Store
				}
				w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
				if err != nil {
					t.Fatal(err)
				}
				io.WriteString(w, text)
			}
			if tc.parts != nil {
				z.Close()
			}
			path := filepath.Join(t.TempDir(), "a.wacz")
			if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			a, err := Open(path)
			if err == nil {
				defer a.Close()
				var got string
				if got, err = replayText(t, a, "file:///1"); err == nil && got != "hello" {
					t.Errorf("got body %q", got)
				}
			}
			if !errors.Is(err, tc.fault) {
				t.Errorf("got error %v, want %v", err, tc.fault)
			}
		})
	}
}

// TestOpenForeignKeys replays captures of a WACZ file whose index has the keys of
// py-wacz and an invalid line.
func TestOpenForeignKeys(t *testing.T) {
	for url, key := range map[string]string{
		"http://h.example/dir/":                "example,h)/dir",
		"http://h.example/x/?q=1":              "example,h)/x?q=1",
		"http://h.example/a;jsessionid=" + sid: "example,h)/a",
		"http://h.example//a//b":               "example,h)/a/b",
		"http://h.example/?a%5B%5D=%22":        "example,h)/?a[]=\"",
		"http://h.example/":                    "example,h)/",
		"http://h.example/only?own key":        "example,h)/only?own%20key",
	} {
		name := filepath.Join(t.TempDir(), "a.wacz")
		line := Line{Key: key, Timestamp: "20261121083000", URL: url, Length: 1, File: "a.warc"}.String()
		file := zipOf(t, map[string]string{
			"archive/a.warc":    strings.Replace(web(1, "", plainAnswer), "http://h.example/", url, 1),
			"indexes/index.cdx": "!meta 0 {}\nexample,h)/post?__wb_method=post 2026 {\"url\":\"http://h.example/post\"}\nzzz\n" + line + "\n",
		})
		if err := os.WriteFile(name, file, 0o666); err != nil {
			t.Fatal(err)
		}
		a, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		u, err := parseURL(url)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := replayText(t, a, u.String()); got != "hello" || err != nil {
			t.Errorf("%s: got %q, %v", url, got, err)
		}
		if got, err := replayText(t, a, "http://h.example/post"); !errors.Is(err, fetch.NotFound) {
			t.Errorf("got %q, %v for the key of a request with a body", got, err)
		}
		for _, err := range a.Search("", 0) {
			if err != nil {
				t.Errorf("searching all lines: %v", err)
			}
		}
		if len(a.Damaged) != 1 || !strings.HasSuffix(a.Damaged[0].Error(), `.wacz/indexes/index.cdx damaged at offset 81: "zzz" is not a CDXJ index line`) {
			t.Errorf("got damage %v", a.Damaged)
		}
		a.Close()
	}
}

const sid = "0123456789abcdef0123456789abcdef"

// TestOpenFolder verifies that the index in a directory is used only while it
// is newer than the WARC files.
func TestOpenFolder(t *testing.T) {
	dir := testFolder(t)
	for _, name := range []string{"warc", "index"} {
		if err := dir.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	sub, err := dir.OpenRoot("warc")
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Close()
	w := testWriter(t, sub, testOptions())
	one := mustWrite(t, w, resource("file:///one"))[0]
	mustWrite(t, w, resource("file:///two"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// The index contains only the first record.
	line := Line{Key: "file:///one", Timestamp: "20261121083000", URL: "file:///one", Length: one.Length,
		Offset: one.Offset, File: one.File}.String() + "\n"
	if err := dir.WriteFile("index/all.cdxj", []byte(line), 0o666); err != nil {
		t.Fatal(err)
	}
	look := func() (one, two error) {
		a, err := Open(dir.Name())
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		_, one = replayText(t, a, "file:///one")
		_, two = replayText(t, a, "file:///two")
		return one, two
	}
	if err := errors.Join(dir.Chtimes("warc/"+one.File, day, day), dir.Chtimes("index/all.cdxj", day, day)); err != nil {
		t.Fatal(err)
	}
	if one, two := look(); one != nil || !errors.Is(two, fetch.NotFound) {
		t.Errorf("with a current index: %v, %v", one, two)
	}
	if err := dir.Chtimes("index/all.cdxj", day, day.Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if one, two := look(); one != nil || two != nil {
		t.Errorf("with an old index: %v, %v", one, two)
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, fetch.NotFound) {
		t.Errorf("empty directory: %v", err)
	}
	if _, err := Open(dir.Name() + "/none"); !errors.Is(err, fetch.Local) {
		t.Errorf("missing path: %v", err)
	}
}

// TestOpenOtherFile opens files without records, alone and with a WARC file.
func TestOpenOtherFile(t *testing.T) {
	dir := t.TempDir()
	put := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := put("good.warc", res(1, ""))
	for name, c := range map[string]struct{ content, want string }{
		"program":            {"import gzip\nprint(1)\n", "no record starts here"},
		"random bytes":       {"\x1f\x8b\x07random", "offset 0"},
		"zstd":               {"\x28\xb5\x2f\xfd\x04\x00\x01\x00\x00", "offset 0"},
		"zstd, dictionary":   {"\x5d\x2a\x4d\x18\x04\x00\x00\x00\n\n\n\n", "contains no dictionary"},
		"empty":              {"", ""},
		"only a description": {rec(1, "WARC-Type: warcinfo", ""), ""},
	} {
		path := put(name, c.content)
		a, err := Open(path)
		var damage *Error
		switch {
		case c.want == "" && err != nil, c.want != "" && err == nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (!errors.As(err, &damage) || damage.File != path || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err == nil {
			a.Close()
		}
		if a, err = Open(path, good); err != nil || len(a.Damaged) > 0 != (c.want != "") {
			t.Errorf("%s and a WARC file: %v", name, err)
		} else {
			a.Close()
		}
	}
}

// TestOpenLinks verifies that Open follows no links in a directory.
func TestOpenLinks(t *testing.T) {
	private := testFolder(t)
	w := testWriter(t, private, testOptions())
	mustWrite(t, w, resource("file:///private"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"warc", "archive"} {
		dir := t.TempDir()
		if err := os.Symlink(private.Name(), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if a, err := Open(dir); !errors.Is(err, fetch.Local) {
			t.Errorf("%s: %v, %v", name, a, err)
		}
		if a, err := Open(filepath.Join(dir, name)); err != nil {
			t.Errorf("the user names the link %s: %v", name, err)
		} else {
			a.Close()
		}
	}
}
