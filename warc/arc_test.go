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

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// sampleARC is an ARC file of two records. The Internet Archive recorded
// example.com on 2014-02-16. The file is the example of the Python library
// warcio (webrecorder/warcio, test/data/example.arc).
func sampleARC(t testing.TB) []byte {
	t.Helper()
	file, err := os.ReadFile("testdata/example.arc")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// arcVersion2 has the header lines of version 2 of the format, and URLs and
// media types with spaces.
const arcVersion2 = "filedesc://IA-001102.arc 0 19960923142103 text/plain 200 - - 0 IA-001102.arc 121\n" +
	"2 0 AlexaInternet\n" +
	"URL IP-address Archive-date Content-type Result-code Checksum Location Offset Filename Archive-length\n\n" +
	"http://h.example/a b 127.10.100.2 19961104142103 text/html; charset=utf-8 200 fac0 - 209 IA-001102.arc 24\n" +
	"HTTP/1.0 200 OK\r\n\r\nhello\n" +
	"dns:h.example 192.0.2.1 20080430204825 text/dns - - - 400 IA-001102.arc 5\nh A 1\n" +
	"http://h.example/old - 199611041421 text/html 200 - - 500 IA-001102.arc 4\n<p>x\n"

// splitARC returns the records of a file as separate texts.
func splitARC(t *testing.T, file []byte) []string {
	t.Helper()
	var starts []int64
	for r := NewReader(bytes.NewReader(file)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		starts = append(starts, h.Offset)
	}
	var parts []string
	for i, start := range starts {
		end := int64(len(file))
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		parts = append(parts, string(file[start:end]))
	}
	return parts
}

// TestARC reads, verifies, indexes, replays and packs ARC files.
func TestARC(t *testing.T) {
	sample := sampleARC(t)
	v2 := []byte(arcVersion2)
	for name, file := range map[string][]byte{
		"a.arc":    sample,
		"b.arc.gz": members(splitARC(t, sample)...),
		"c.arc.gz": members(string(sample)),
		"d.arc":    v2,
		"e.arc.gz": members(splitARC(t, v2)...),
		"f.arc.gz": members(arcVersion2),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			if found := findings(t, path); found != "" {
				t.Error(found)
			}
			a, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			want := map[string]string{"http://example.com/": "Example Domain"}
			if strings.Contains(string(file), "IA-001102") || name > "d" {
				want = map[string]string{"http://h.example/a%20b": "hello", "dns:h.example": "h A 1", "http://h.example/old": "<p>x"}
			}
			checkReplay(t, a, want)
			checkPacked(t, a, want)
		})
	}
}

// checkReplay checks that the archive replays bodies with the texts in want.
func checkReplay(t *testing.T, a *Archive, want map[string]string) {
	t.Helper()
	for url, text := range want {
		resp, err := driver{a}.Do(t.Context(), &fetch.Request{URL: uri.MustParse(url)})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || !strings.Contains(string(body), text) {
			t.Errorf("%s: got body %q, %v", url, body, err)
		}
		resp.Body.Close()
	}
}

// checkPacked checks that a WACZ file of the archive is valid and replays the
// same bodies.
func checkPacked(t *testing.T, a *Archive, want map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.wacz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Pack(f, Package{}), f.Close()); err != nil {
		t.Fatal(err)
	}
	if found := findings(t, path); found != "" {
		t.Error(found)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, part := range z.File {
		if strings.HasPrefix(part.Name, "archive/") && !strings.HasSuffix(part.Name, ".warc.gz") {
			t.Errorf("the package contains %s", part.Name)
		}
	}
	packed, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	checkReplay(t, packed, want)
}

// TestARCHeader checks the fields that are derived from the headers of ARC
// records.
func TestARCHeader(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"version 1", "http://h/ 192.0.2.1 20200102030405 text/html 18",
			"ARC 1|resource|http://h/|2020-01-02T03:04:05Z|192.0.2.1|text/html|18"},
		{"version 2", "http://h/ 192.0.2.1 20200102030405 text/html 200 - - 5 a.arc 18",
			"ARC 2|resource|http://h/|2020-01-02T03:04:05Z|192.0.2.1|text/html|18"},
		{"spaces in the URL and the type", "http://h/a b 1 ::1 20200102030405 text/html; charset=a 7",
			"ARC 1|resource|http://h/a%20b%201|2020-01-02T03:04:05Z|::1|text/html; charset=a|7"},
		{"a URL that contains an address and a date", "http://h/ 10.0.0.1 20200102030405 x 192.0.2.1 20210102030405 text/html 7",
			"ARC 1|resource|http://h/%2010.0.0.1%2020200102030405%20x|2021-01-02T03:04:05Z|192.0.2.1|text/html|7"},
		{"no seconds, no address, no type", "ftp://h/ - 202001020304 no-type 0", "ARC 1|resource|ftp://h/|2020-01-02T03:04:00Z|||0"},
		{"impossible date", "http://h/ 0.0.0.0 20201302030405 text/html 1", "ARC 1|resource|http://h/|||text/html|1"},
		{"CRLF", "http://h/ 0.0.0.0 20200102030405 text/html 1\r", "ARC 1|resource|http://h/|2020-01-02T03:04:05Z||text/html|1"},
		{"version 2 without a status", "dns:h 192.0.2.1 20200102030405 text/dns - - - 400 a.arc 5",
			"ARC 2|resource|dns:h|2020-01-02T03:04:05Z|192.0.2.1|text/dns|5"},
		{"version 1, as many words as version 2", "http://h/ 192.0.2.1 20200102030405 a b c d 5 e 18",
			"ARC 1|resource|http://h/|2020-01-02T03:04:05Z|192.0.2.1|a b c d 5 e|18"},
		{"a scheme with the first letter", "afp://h/ 192.0.2.1 20200102030405 x 1", "ARC 1|resource|afp://h/|2020-01-02T03:04:05Z|192.0.2.1|x|1"},
		{"a scheme with the last letter", "z39.50r://h/ 192.0.2.1 20200102030405 x 1", "ARC 1|resource|z39.50r://h/|2020-01-02T03:04:05Z|192.0.2.1|x|1"},
		{"a scheme without a letter", "[://h/ 192.0.2.1 20200102030405 x 1", ""},
		{"an empty block", "http://h/ 192.0.2.1 20200102030405 x 0", "ARC 1|resource|http://h/|2020-01-02T03:04:05Z|192.0.2.1|x|0"},
		{"no URL", "h 192.0.2.1 20200102030405 text/html 18", ""},
		{"a fraction of a second", "http://h/ 192.0.2.1 202001020304051234 x 1", "ARC 1|resource|http://h/|2020-01-02T03:04:05Z|192.0.2.1|x|1"},
		{"a date with too many digits", "http://h/ 192.0.2.1 2020010203040512345 x 1", ""},
		{"a date with too few digits", "http://h/ 192.0.2.1 20200102030 x 1", ""},
		{"no address", "http://h/ x 20200102030405 text/html 18", ""},
		{"no date", "http://h/ 192.0.2.1 2020 text/html 18", ""},
		{"too few values", "http://h/ 192.0.2.1 20200102030405 18", ""},
		{"only spaces", strings.Repeat(" ", 1<<16), ""},
	} {
		got := ""
		if line, ok := parseARC(tc.line); ok {
			var h Header
			h.setARC(line, false)
			got = strings.Join([]string{h.Version, string(h.Type()), h.Target(), h.Get("WARC-Date"), h.Get("WARC-IP-Address"),
				h.Get("Content-Type"), h.Get("Content-Length")}, "|")
		}
		if got != tc.want {
			t.Errorf("%s: got %q", tc.name, got)
		}
	}
}

// TestARCTypes checks which records are HTTP responses.
func TestARCTypes(t *testing.T) {
	var got []string
	r := NewReader(strings.NewReader(arcVersion2))
	for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(h.Type())+" "+h.Get("Content-Type"))
	}
	want := "warcinfo text/plain, response application/http;msgtype=response, resource text/dns, resource text/html"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got %s", text)
	}
}

// TestHostileARC reads damaged ARC files. The Reader continues with the next
// intact record.
func TestHostileARC(t *testing.T) {
	one := "http://h/1 192.0.2.1 20200102030405 text/plain 5\nhello\n"
	two := strings.ReplaceAll(one, "/1", "/2")
	long := "http://h/" + strings.Repeat("x", 2<<20)
	for _, tc := range []struct {
		name, file, want string
		members          bool // the file is also read with each record in a gzip member
	}{
		{"negative length", strings.Replace(one, " 5\n", " -5\n", 1) + two, "error /2", true},
		{"negative length, then an empty block", strings.Replace(one, " 5\n", " -5\n", 1) + strings.Replace(two, " 5\nhello", " 0\n", 1) + one,
			"error /2 /1", false},
		{"length of another type", strings.Replace(one, " 5\n", " five\n", 1) + two, "error /2", true},
		{"number that is too large", strings.Replace(one, " 5\n", " 99999999999999999999\n", 1) + two, "error /2", true},
		{"length behind the end of the file", strings.Replace(one, " 5\n", " 500\n", 1) + two, "/1 error /2", true},
		{"length within the block", strings.Replace(one, " 5\n", " 3\n", 1) + two, "/1 error /2", false},
		{"line without end", long, "error", true},
		{"line without end, then a record", long + "\n" + two, "error /2", false},
		{"garbage", "<html>\n" + two, "error /2", false},
		{"garbage between records", one + "\x00\x01garbage\n" + two, "/1 error /2", false},
		{"a WARC record in an ARC file", one + res(1, "") + two, "/1 error /2", false},
		{"no final line break", one + strings.TrimSuffix(two, "\n"), "/1 /2", true},
		{"truncated", one + two[:len(two)-3], "/1 /2 error", true},
	} {
		for _, compressed := range []bool{false, true} {
			if compressed && !tc.members {
				continue
			}
			file := []byte(tc.file)
			if compressed {
				file = members(strings.SplitAfter(tc.file, "\nhello\n")...)
			}
			var got []string
			r := NewReader(bytes.NewReader(file))
			for {
				h, err := r.Next()
				if err == io.EOF {
					break
				}
				var damage *Error
				if err != nil && !errors.As(err, &damage) {
					t.Fatalf("%s: %v", tc.name, err)
				}
				if err != nil && (len(got) == 0 || got[len(got)-1] != "error") {
					got = append(got, "error")
				} else if err == nil {
					got = append(got, strings.TrimPrefix(h.Target(), "http://h"))
				}
				if len(got) > 10 {
					t.Fatalf("%s: %q", tc.name, got)
				}
			}
			if text := strings.Join(got, " "); text != tc.want {
				t.Errorf("%s (compressed %v): got %q, want %q", tc.name, compressed, text, tc.want)
			}
		}
	}
}

// FuzzARC verifies that each header that is found in a search for records is
// also read as the header of a record, and that its fields have no line breaks.
func FuzzARC(f *testing.F) {
	for line := range strings.Lines(arcVersion2) {
		f.Add(strings.TrimSuffix(line, "\n"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		if !formUnknown.starts([]byte(line + "\n")) {
			return
		}
		r := NewReader(strings.NewReader(line + "\n"))
		h, err := r.Next()
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, field := range h.Fields {
			if strings.Contains(field.Value, "\n") {
				t.Fatalf("field %q", field)
			}
		}
	})
}
