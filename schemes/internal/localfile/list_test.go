package localfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/format/entries"
	"github.com/anyurl/fetch/uri"
)

func list(t testing.TB, c *fetch.Client, url string) (*fetch.Response, []fetch.Entry) {
	t.Helper()
	resp, err := c.Get(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	var all []fetch.Entry
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return resp, all
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	day := time.Date(1994, 12, 1, 0, 0, 0, 5, time.UTC)
	write(t, filepath.Join(dir, "b.txt"), []byte("12345"))
	write(t, filepath.Join(dir, ".hidden"), nil)
	for name, target := range map[string]string{"link": "b.txt", "dangling": "nowhere", "to dir": "a"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b.txt", ".hidden"} {
		if err := os.Chtimes(filepath.Join(dir, name), day, day); err != nil {
			t.Fatal(err)
		}
	}
	c := newClient(t, Options{})
	base := urlOf(dir)
	for _, url := range []string{base, base + "/", base + "/a/..", strings.Replace(base, "file://", "file://localhost", 1), strings.Replace(base, "file://", "file:", 1)} {
		resp, got := list(t, c, url)
		if resp.Kind != fetch.Menu || resp.Media != entries.Media || resp.Size != -1 || resp.Validator != "" {
			t.Errorf("%s: got %v, %q, %d, %q", url, resp.Kind, resp.Media, resp.Size, resp.Validator)
		}
		if sub, err := resp.URL.Resolve(uriOf(t, "b.txt")); err != nil || sub != got[2].URL {
			t.Errorf("%s: b.txt resolves to %v, %v, want %v", url, sub, err, got[2].URL)
		}
		want := []fetch.Entry{
			{Name: ".hidden", Kind: fetch.Document, Size: 0, Time: day},
			{Name: "a", Kind: fetch.Menu, Size: -1, Media: entries.Media, Time: day},
			{Name: "b.txt", Kind: fetch.Document, Size: 5, Media: "text/plain", Time: day},
			{Name: "dangling", Kind: fetch.Unknown, Size: -1, Extra: map[string]string{"link": "nowhere"}},
			{Name: "link", Kind: fetch.Document, Size: 5, Extra: map[string]string{"link": "b.txt"}},
			{Name: "to dir", Kind: fetch.Menu, Size: -1, Media: entries.Media, Extra: map[string]string{"link": "a"}},
		}
		if len(got) != len(want) {
			t.Fatalf("%s: got %+v", url, got)
		}
		for i, e := range got {
			w := want[i]
			if e.Name != w.Name || e.Kind != w.Kind || e.Size != w.Size || e.Media != w.Media || e.Extra["link"] != w.Extra["link"] {
				t.Errorf("%s: got %+v, want %+v", url, e, w)
			}
			if !w.Time.IsZero() && !e.Time.Equal(w.Time) || e.Time.IsZero() {
				t.Errorf("%s: %s: time %v, want %v", url, e.Name, e.Time, w.Time)
			}
			if slash := strings.HasSuffix(e.URL.Path(), "/"); slash != (e.Kind == fetch.Menu) {
				t.Errorf("%s: %s: URL %v of kind %v", url, e.Name, e.URL, e.Kind)
			}
		}
	}
}

func uriOf(t *testing.T, ref string) uri.URI {
	t.Helper()
	u, err := uri.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestNames checks that entries have the exact names of the files, and that
// their URLs name the same files.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	names := []string{
		"plain", "a b", "a?b#c%d", "%2e%2e", "..a", "...", "a:b", "-rf", "~", "漢字-ä.txt", "\xff\xfe", "caf\xe9",
		"new\nline", "esc\x1b[2J", `back\slash`, "\u202egnp.exe", "a;type=d", "[x]", strings.Repeat("é", 127),
	}
	for _, name := range names {
		write(t, filepath.Join(dir, name), []byte(name))
	}
	c := newClient(t, Options{})
	_, got := list(t, c, urlOf(dir))
	var listed []string
	for _, e := range got {
		listed = append(listed, e.Name)
		if _, b, err := get(t, c, e.URL.String()); err != nil || string(b) != e.Name {
			t.Errorf("%q at %s: got %q, %v", e.Name, e.URL, b, err)
		}
	}
	slices.Sort(names)
	if !slices.Equal(listed, names) {
		t.Errorf("got %q, want %q", listed, names)
	}
}

// TestHuge checks that listing a large directory uses bounded memory and
// reports the missing sort order.
func TestHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("creates many thousand files")
	}
	dir := t.TempDir()
	const count = 3*batchSize + 1
	for i := range count {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%032d", i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	c := newClient(t, Options{})
	note := ""
	u, _ := fetch.ParseURL(urlOf(dir))
	resp, err := c.Do(t.Context(), &fetch.Request{URL: u, Trace: &trace.Trace{Note: func(s string) { note = s }}})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		seen[e.Name] = true
	}
	if len(seen) != count {
		t.Errorf("got %d entries, want %d", len(seen), count)
	}
	if !strings.Contains(note, "file system order") {
		t.Errorf("got note %q", note)
	}
}

// TestBatchEdges checks that directories of about one batch are complete, and
// that they are sorted up to the batch size.
func TestBatchEdges(t *testing.T) {
	if testing.Short() {
		t.Skip("creates thousands of files")
	}
	dir := t.TempDir()
	c := newClient(t, Options{})
	made := 0
	for _, count := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1} {
		for ; made < count; made++ {
			write(t, filepath.Join(dir, fmt.Sprint(made*7919%10007)), nil)
		}
		_, got := list(t, c, urlOf(dir))
		sorted := slices.IsSortedFunc(got, func(a, b fetch.Entry) int { return strings.Compare(a.Name, b.Name) })
		if len(got) != count || count <= batchSize && !sorted {
			t.Errorf("got %d entries, sorted %v, want %d", len(got), sorted, count)
		}
	}
}

func TestListingAfterClose(t *testing.T) {
	c := newClient(t, Options{})
	resp, err := c.Get(t.Context(), urlOf(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(resp.Body); fetch.FaultOf(err) != fetch.Canceled {
		t.Errorf("after Close: got %v", err)
	}
}

func BenchmarkList(b *testing.B) {
	dir := b.TempDir()
	for i := range 20000 {
		write(b, filepath.Join(dir, fmt.Sprintf("file-%d.txt", i)), nil)
	}
	c := newClient(b, Options{})
	var most uint64
	for b.Loop() {
		resp, err := c.Get(b.Context(), urlOf(dir))
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range resp.Entries() {
			if err != nil {
				b.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapInuse)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/20000, "µs/entry")
	b.ReportMetric(float64(most)/(1<<20), "MiB-heap")
}
