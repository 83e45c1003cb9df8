package mirrorcmd_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/warc"
)

// TestDedup writes revisit records to the records of another archive, and
// replays them from both archives.
func TestDedup(t *testing.T) {
	big, changing := strings.Repeat("big\n", 1000), strings.Repeat("old\n", 1000)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<a href=big><a href=changing><a href=small>"+strings.Repeat(" ", 2000))
		case "/big":
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Unix(1_700_000_000, 0), strings.NewReader(big))
		case "/changing":
			io.WriteString(w, changing)
		case "/small":
			io.WriteString(w, "small")
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	commandtest.Run(t, 0, "-s", "mirror", "--warc", "--warc-prefix", "first", "--output-dir", first, site.URL+"/")
	index, err := os.ReadFile(filepath.Join(first, "index", "all.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(index)
	z.Close()
	indexes := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(map[string][]byte{"/index.cdxj": index, "/index.cdxj.gz": packed.Bytes()}[r.URL.Path])
	}))
	defer indexes.Close()
	if err := os.WriteFile(filepath.Join(dir, "index.gz"), packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	changing = strings.Repeat("new\n", 1000)
	t.Setenv("TMPDIR", filepath.Join(dir, "tmp"))
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i, source := range []string{
		first, filepath.Join(first, "index", "all.cdxj"), filepath.Join(dir, "index.gz"),
		"file://" + first + "/index/all.cdxj", indexes.URL + "/index.cdxj", indexes.URL + "/index.cdxj.gz",
	} {
		second := filepath.Join(dir, fmt.Sprint(i))
		commandtest.Run(t, 0, "-s", "mirror", "--warc", "--dedup", source, "--output-dir", second, site.URL+"/")
		list := commandtest.Run(t, 0, "ls", "--json", globOne(t, filepath.Join(second, "warc", "*.gz")))
		if got := strings.Count(list, `"type":"revisit"`); got != 2 {
			t.Errorf("%s: got %d revisits: %s", source, got, list)
		}
		for path, want := range map[string]string{"big": big, "small": "small"} {
			if got := commandtest.Run(t, 0, "--archive", first, "--archive", second, site.URL+"/"+path); got != want {
				t.Errorf("%s: %s: got %.20q, want %.20q", source, path, got, want)
			}
		}
		if got := commandtest.Run(t, 0, "--archive", second, site.URL+"/changing"); got != changing {
			t.Errorf("%s: changing: got %.20q", source, got)
		}
		commandtest.Run(t, 8, "--archive", second, site.URL+"/big")
		out := commandtest.Run(t, 0, "verify", second)
		commandtest.Contains(t, out, "note", "there is no such record")
		commandtest.Run(t, 0, "-s", "verify", globOne(t, filepath.Join(first, "warc", "*.gz")), globOne(t, filepath.Join(second, "warc", "*.gz")))
		if i > 0 {
			continue
		}
		// The next run records the object as not modified.
		commandtest.Run(t, 0, "-s", "mirror", "--warc", "--dedup", source, "--output-dir", second, site.URL+"/")
		if n := revisitsOfOthers(t, second, site.URL+"/big"); n != 2 {
			t.Errorf("%d revisit records of /big refer to the first archive, want 2", n)
		}
		if got := commandtest.Run(t, 0, "--archive", first, "--archive", second, site.URL+"/big"); got != big {
			t.Errorf("after two runs: got %.20q", got)
		}
		if got := commandtest.Run(t, 0, "recover", "--force", "--json", second); !strings.Contains(got, `"lost_records":0,`) {
			t.Errorf("recovered: %s", got)
		}
		commandtest.Run(t, 0, "-s", "mirror", "--warc", "--output-dir", second, site.URL+"/")
		commandtest.Run(t, 0, "-s", "verify", second)
		if got := commandtest.Run(t, 0, "--archive", first, "--archive", second, site.URL+"/big"); got != big {
			t.Errorf("after three runs: got %.20q", got)
		}
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "tmp")); len(left) > 0 {
		t.Errorf("left the files %v", left)
	}
	commandtest.Run(t, 2, "mirror", "--dedup", first, "--output-dir", filepath.Join(dir, "none"), site.URL+"/")
	commandtest.Run(t, 3, "mirror", "--warc", "--dedup", filepath.Join(dir, "none"), "--output-dir", filepath.Join(dir, "none"), site.URL+"/")
	if err := os.WriteFile(filepath.Join(dir, "page"), []byte("<html>\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	commandtest.Run(t, 7, "mirror", "--warc", "--dedup", filepath.Join(dir, "page"), "--output-dir", filepath.Join(dir, "none"), site.URL+"/")
}

// revisitsOfOthers returns the number of revisit records of a URL in the archive in
// dir that refer to another archive, which is a reference without a record ID.
func revisitsOfOthers(t *testing.T, dir, url string) (n int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no WARC files: %v", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := warc.NewReader(f)
		h, err := r.Next()
		for ; err == nil; h, err = r.Next() {
			if h.Type() == warc.Revisit && h.Target() == url && h.Get("WARC-Refers-To") == "" {
				n++
			}
		}
		if err != io.EOF {
			t.Error(err)
		}
	}
	return n
}

// globOne returns the only file that matches pattern.
func globOne(t *testing.T, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) != 1 {
		t.Fatalf("%s: got %q, %v", pattern, names, err)
	}
	return names[0]
}
