package warc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKey compares keys with the output of getSurt in warcio 2.4.11.
func TestKey(t *testing.T) {
	file, err := os.ReadFile("testdata/surt.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		url, want, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if got := Key(url); !ok || got != want {
			t.Errorf("%q: got %q, want %q", url, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, tc := range []struct {
		line Line
		want string
	}{
		{Line{Key: "k", Timestamp: "20261121083000", URL: "u", Media: "m", Status: "200", Digest: "D", Length: 1, Offset: 2,
			File: "f"},
			`k 20261121083000 {"url":"u","mime":"m","status":"200","digest":"D","length":"1","offset":"2","filename":"f"}`},
		{Line{Key: "k", Timestamp: "1", URL: "u", File: "f"}, `k 1 {"url":"u","length":"0","offset":"0","filename":"f"}`},
		{Line{Key: "k", Timestamp: "1", URL: "a\"\\\n\r\t\b\f\x01\x7f<&>\u2028\u00e9", File: "f"},
			"k 1 {\"url\":\"a\\\"\\\\\\n\\r\\t\\b\\f\\u0001\x7f<&>\u2028\u00e9\",\"length\":\"0\",\"offset\":\"0\",\"filename\":\"f\"}"},
	} {
		got := tc.line.String()
		if got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
		back, err := ParseLine(got + "\n")
		if err != nil || back != tc.line {
			t.Errorf("%s was parsed as %+v, %v", got, back, err)
		}
	}
	if l, err := ParseLine(`k 1 {"url":"u","status":200,"length":1,"offset":2,"more":{"a":[]}}`); err != nil ||
		l.Status != "200" || l.Length != 1 || l.Offset != 2 {
		t.Errorf("numbers were parsed as %+v, %v", l, err)
	}
	for _, bad := range []string{`k 1 {"offset":"-1"}`, `k 1 {"offset":true}`, "", "k", "k 1", "k 1 {",
		`k 1 {"offset":"x"}`, `k 1 []`} {
		if _, err := ParseLine(bad); err == nil {
			t.Errorf("invalid line %q was accepted", bad)
		}
	}
}

// TestIndex compares the index of the sample with a golden file.
// TestWarcioIndex compares it with the index of warcio.
func TestIndex(t *testing.T) {
	path := sample(t, testOptions())
	var b bytes.Buffer
	if err := Index(&b, path); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(b.String(), "\n"), "\n")
	if !slices.IsSorted(lines) {
		t.Error("the index is not sorted")
	}
	var got strings.Builder
	for _, text := range lines {
		l, err := ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %s %s %s %s %s\n", l.Key, l.Timestamp, l.URL, l.Media, l.Status, l.Digest)
	}
	golden(t, "testdata/sample.index", []byte(got.String()))
}

// TestIndexDamaged verifies that Index writes the intact records and returns an
// error for each damaged one.
func TestIndexDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.warc.gz")
	if err := os.WriteFile(path, append(members(res(1, ""), "garbage", res(2, "")), "\x1f\x8b"...), 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err := Index(&b, path)
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), path+" truncated at offset") {
		t.Errorf("error %v", err)
	}
	if n := strings.Count(b.String(), "\n"); n != 2 {
		t.Errorf("got %d lines, want 2: %s", n, b.String())
	}
}

// TestSearchLines searches for existing and missing keys in lines of different
// lengths.
func TestSearchLines(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "k%02d %s\n", i, strings.Repeat("x", i*i%37))
	}
	index := strings.NewReader(b.String())
	lines := &sortedLines{index: index, size: index.Size(), probes: &probeCache{}}
	for i := range 100 {
		key := fmt.Sprintf("k%02d ", i)
		for _, k := range []string{key, key[:3] + "\x01"} {
			if at, err := lines.search(k); err != nil || int(at) != strings.Index(b.String(), key) {
				t.Errorf("%q: got offset %d, %v", k, at, err)
			}
		}
	}
	for key, want := range map[string]int64{"": 0, "a": 0, "z": index.Size()} {
		if at, err := lines.search(key); at != want || err != nil {
			t.Errorf("%q: got offset %d, %v", key, at, err)
		}
	}
}

func BenchmarkParseLine(b *testing.B) {
	for name, text := range map[string]string{
		"simple": `org,example)/a 20261121083000 {"url":"http://example.org/a","mime":"text/html","status":"200",` +
			`"digest":"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567","length":"1234","offset":"56789","filename":"a-00001.warc.gz"}`,
		"escape": `org,example)/a 20261121083000 {"url":"http://example.org/a","mime":"text/html","status":"200",` +
			`"digest":"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567","length":"1234","offset":"56789","filename":"\u0061-00001.warc.gz"}`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := ParseLine(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLineStatus checks the status in the line of an HTTP response.
func TestLineStatus(t *testing.T) {
	for _, tc := range []struct{ name, block, want string }{
		{"a status", "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nhello", "404 text/plain"},
		{"no media type", "HTTP/1.1 200 OK\r\n\r\nhello", "200 "},
		{"no header", "text without a header", " "},
		{"no block", "", " "},
	} {
		for l, err := range Lines("a.warc", strings.NewReader(web(1, "", tc.block))) {
			if got := l.Status + " " + l.Media; err != nil || got != tc.want {
				t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
			}
		}
	}
}

// TestParseTimestamp parses the timestamps of dates with reduced precision.
func TestParseTimestamp(t *testing.T) {
	for date, want := range map[string]string{
		"2020": "20200101000000", "2020-02": "20200201000000", "2020-02-03": "20200203000000",
		"2020-02-03T04:05Z": "20200203040500", "2020-02-03T04:05:06Z": "20200203040506",
		"2020-02-03T04:05:06.789Z": "20200203040506", "": "",
	} {
		text := strings.Replace(res(1, ""), "2026-11-21T08:30:00Z", date, 1)
		for l, err := range Lines("a.warc", strings.NewReader(text)) {
			if err == nil {
				l, err = ParseLine(l.String())
			}
			if err != nil || l.Timestamp != want {
				t.Errorf("%q: got %q, %v, want %q", date, l.Timestamp, err, want)
			}
		}
	}
}
