package warc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func writeIndex(t testing.TB, lines ...string) *IndexFile {
	t.Helper()
	name := filepath.Join(t.TempDir(), "index.cdxj")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	x, err := OpenIndex(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// TestOriginal searches for the original of a record in lines of other programs.
func TestOriginal(t *testing.T) {
	sum := strings.TrimPrefix(helloSum, "sha1:")
	const sha256OfHello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e730433629 38b9824"
	line := func(date, fields string) string {
		return `example,h)/a ` + date + ` {"url":"http://h.example/a",` + fields + `}`
	}
	page := at("http://h.example/a", 0)
	for _, tc := range []struct {
		name   string
		line   string
		record *Record
		want   string // date of the original, or ""
	}{
		{"ours", line("20200101000000", `"status":"200","digest":"`+sum+`"`), page.Response(text(plainAnswer)), "20200101000000"},
		{"digest with a label", line("20200101000000", `"status":"200","digest":"sha1:`+strings.ToLower(sum)+`"`),
			page.Response(text(plainAnswer)), "20200101000000"},
		{"SHA-256", line("20200101000000", `"status":"200","digest":"sha-256:`+strings.ReplaceAll(sha256OfHello, " ", "")+`"`),
			page.Response(text(plainAnswer)), "20200101000000"},
		{"number as the status", line("20200101000000", `"status":200,"digest":"`+sum+`"`), page.Response(text(plainAnswer)),
			"20200101000000"},
		{"https", strings.Replace(line("20200101000000", `"status":"200","digest":"`+sum+`"`), "http:", "https:", 1),
			page.Response(text(plainAnswer)), "20200101000000"},
		{"other status", line("20200101000000", `"status":"404","digest":"`+sum+`"`), page.Response(text(plainAnswer)), ""},
		{"other digest", line("20200101000000", `"status":"200","digest":"`+strings.TrimPrefix(emptySum, "sha1:")+`"`),
			page.Response(text(plainAnswer)), ""},
		{"unknown digest", line("20200101000000", `"status":"200","digest":"md5:00"`), page.Response(text(plainAnswer)), ""},
		{"no digest", line("20200101000000", `"status":"200"`), page.Response(text(plainAnswer)), ""},
		{"revisit", line("20200101000000", `"mime":"warc/revisit","status":"200","digest":"`+sum+`"`),
			page.Response(text(plainAnswer)), ""},
		{"invalid date", line("20209", `"status":"200","digest":"`+sum+`"`), page.Response(text(plainAnswer)), ""},
		{"date without a day", line("202002", `"status":"200","digest":"`+sum+`"`), page.Response(text(plainAnswer)), "20200201000000"},
		{"other URL", line("20200101000000", `"status":"200","digest":"`+sum+`"`),
			at("http://h.example/b", 0).Response(text(plainAnswer)), ""},
		{"resource", `gopher://h.example/0/a 20200101000000 {"url":"gopher://h.example/0/a","digest":"` + sum + `"}`,
			at("gopher://h.example/0/a", 0).Resource("text/plain", text("hello")), "20200101000000"},
		{"metadata", line("20200101000000", `"digest":"`+sum+`"`), page.Metadata("text/plain", text("hello")), ""},
	} {
		original, digest, ok, err := writeIndex(t, "!meta {}", tc.line).Original(tc.record)
		got := ""
		if ok {
			got = original.Date.Format("20060102150405")
		}
		if got != tc.want || err != nil || ok != strings.HasPrefix(digest, "sha") || ok == original.URL.IsZero() {
			t.Errorf("%s: got %v, %q, %v, %v", tc.name, original, digest, ok, err)
		}
		if rest := tc.record.Body.(*strings.Reader); rest.Len() != int(rest.Size()) {
			t.Errorf("%s: the position of the body changed", tc.name)
		}
	}
}

// TestLookup searches sorted and unsorted files.
func TestLookup(t *testing.T) {
	var lines []string
	for i := range 5000 {
		lines = append(lines, fmt.Sprintf(`example,h)/%06d 2020 {"url":"http://h.example/%06d"}`, i/2, i/2))
	}
	sorted := writeIndex(t, lines...)
	for i := range 2500 {
		n := 0
		for l, err := range sorted.lookup(Key(fmt.Sprintf("http://h.example/%06d", i))) {
			if err != nil || !strings.HasSuffix(l.URL, fmt.Sprintf("/%06d", i)) {
				t.Fatalf("got %v, %v", l, err)
			}
			n++
		}
		if n != 2 {
			t.Fatalf("%d: got %d lines", i, n)
		}
	}
	for i, j := 0, len(lines)-1; i < j; i, j = i+1, j-1 {
		lines[i], lines[j] = lines[j], lines[i]
	}
	var failed error
	for _, err := range writeIndex(t, lines...).lookup(Key("http://h.example/000100")) {
		failed = errors.Join(failed, err)
	}
	if !errors.Is(failed, fetch.Mismatch) {
		t.Errorf("unsorted: got error %v", failed)
	}
}

// BenchmarkLookup searches an index of a million lines.
func BenchmarkLookup(b *testing.B) {
	lines := make([]string, 1_000_000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`example,h)/a/long/path/of/some/page/%09d 20200101000000 {"url":"http://h.example/a/long/path/of/some/page/%09d",`+
			`"mime":"text/html","status":"200","digest":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","length":"1000","offset":"1000","filename":"a.warc.gz"}`, i, i)
	}
	x := writeIndex(b, lines...)
	start := time.Now()
	for i := range b.N {
		for _, err := range x.lookup(Key(fmt.Sprintf("http://h.example/a/long/path/of/some/page/%09d", i*7919%1_000_000))) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(time.Since(start).Microseconds())/float64(b.N), "µs/lookup")
}

// TestSearch searches an index for a URL and for the starts of URLs.
func TestSearch(t *testing.T) {
	x := writeIndex(t,
		`com,example)/ 20200101000000 {"url":"http://example.com/"}`,
		`com,example)/ 20210101000000 {"url":"https://www.example.com/"}`,
		`com,example)/a/b 20200101000000 {"url":"http://example.com/a/B"}`,
		`com,example)/ab 20200101000000 {"url":"http://example.com/ab"}`,
		`com,examples)/ 20200101000000 {"url":"http://examples.com/"}`,
		`gopher://h/1/x 20200101000000 {"url":"gopher://h/1/x"}`)
	a := &Archive{sortedLines: x.sortedLines}
	for prefix, want := range map[string]string{
		"":                     "http://example.com/ https://www.example.com/ http://example.com/a/B http://example.com/ab http://examples.com/ gopher://h/1/x",
		"http://example.com":   "http://example.com/ https://www.example.com/ http://example.com/a/B http://example.com/ab",
		"http://example.com/a": "http://example.com/a/B http://example.com/ab", "http://EXAMPLE.com/a/": "http://example.com/a/B",
		"gopher://h": "gopher://h/1/x", "gopher://H": "", "\n": "", "zzz": "", "http://": "",
	} {
		var got []string
		for from := int64(0); from >= 0; { // one line for each call
			at := from
			from = -1
			for l, err := range a.Search(prefix, at) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, l.URL)
				from = l.Next
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
	n := 0
	for l, err := range a.Lookup(uri.MustParse("HTTP://example.com:80")) {
		if n++; err != nil || l.URL != "http://example.com/" {
			t.Errorf("Lookup: %v, %v", l, err)
		}
	}
	if n != 1 {
		t.Errorf("Lookup returned %d lines", n)
	}
}
