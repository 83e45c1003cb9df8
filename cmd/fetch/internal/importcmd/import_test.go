package importcmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/har"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// convert converts a file, and returns the records of the WARC file and the
// reasons of skipped entries.
func convert(t testing.TB, text io.Reader, isHAR bool) (index string, skipped map[string]int, err error) {
	t.Helper()
	path := t.TempDir()
	dir, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w, err := warc.NewWriter(dir, warc.Options{Name: "a.warc"})
	if err != nil {
		t.Fatal(err)
	}
	im := newImporter(t.Context(), w, path)
	if isHAR {
		err = im.har(text)
	} else {
		err = im.mhtml(text, time.Unix(1_700_000_000, 0))
	}
	im.free()
	if failed := w.Close(); failed != nil {
		t.Fatal(failed)
	}
	name := filepath.Join(path, "a.warc")
	if im.captures == 0 {
		return "", im.skipped, err
	}
	for f, failed := range warc.Verify(name) {
		t.Errorf("%v %v", f, failed)
	}
	return indexOf(t, name), im.skipped, err
}

// indexOf returns the URL and the media type of each capture in a WARC file.
func indexOf(t testing.TB, name string) (index string) {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for l, err := range warc.Lines("a.warc", f) {
		if err != nil {
			t.Error(err)
		}
		index += l.URL + " " + l.Media + "\n"
	}
	return index
}

// TestHAR converts entries with unusual values.
func TestHAR(t *testing.T) {
	for _, test := range []struct{ name, request, response, want string }{
		{"good", `"url":"http://127.0.0.1/"`, `"status":200,"content":{"text":"x"}`, "http://127.0.0.1/"},
		{"no content", `"url":"http://127.0.0.1/"`, `"status":204`, "http://127.0.0.1/"},
		{"redirect without a body", `"url":"http://127.0.0.1/"`, `"status":302`, "http://127.0.0.1/"},
		{"empty body", `"url":"http://127.0.0.1/"`, `"status":200,"content":{"size":0}`, "http://127.0.0.1/"},
		{"no body", `"url":"http://127.0.0.1/"`, `"status":200,"content":{}`, "no body"},
		{"no response", `"url":"http://127.0.0.1/"`, `"status":0`, "no response"},
		{"status", `"url":"http://127.0.0.1/"`, `"status":99999`, "no response"},
		{"interim response", `"url":"http://127.0.0.1/"`, `"status":101`, "no response"},
		{"base64", `"url":"http://127.0.0.1/"`, `"status":200,"content":{"text":"!!!!","encoding":"base64"}`, "invalid encoding of a body"},
		{"cut base64", `"url":"http://127.0.0.1/"`, `"status":200,"content":{"text":"AAE","encoding":"base64"}`, "invalid encoding of a body"},
		{"file URL", `"url":"file:///etc/passwd"`, `"status":200,"content":{"text":"x"}`, "no http URL"},
		{"no host", `"url":"http:///x"`, `"status":200,"content":{"text":"x"}`, "no http URL"},
		{"line end in a URL", `"url":"http://127.0.0.1/a\r\nX: y"`, `"status":200,"content":{"text":"x"}`, "no http URL"},
		{"line end in a method", `"method":"GET\r\nX:","url":"http://127.0.0.1/"`, `"status":200,"content":{"text":"x"}`, "no response"},
		{"repeated lengths", `"url":"http://127.0.0.1/"`, `"status":200,"headers":[{"name":"Content-Length","value":"1"},{"name":"Content-Length","value":"2"},{"name":"Transfer-Encoding","value":"chunked"}],"content":{"text":"x"}`, "http://127.0.0.1/"},
	} {
		method := `"method":"GET",`
		if strings.Contains(test.request, "method") {
			method = ""
		}
		text := `{"log":{"entries":[{"startedDateTime":"2026-11-01T10:00:00Z","request":{` + method + test.request + `},"response":{` + test.response + `}}]}}`
		index, skipped, err := convert(t, strings.NewReader(text), true)
		got, _, _ := strings.Cut(index, " ")
		for reason := range skipped {
			got = reason
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %q, %v, want %q", test.name, got, err, test.want)
		}
	}
}

// TestSecretFields checks that the record of a request contains no password.
func TestSecretFields(t *testing.T) {
	q := &har.Request{Method: "GET", Headers: []har.Field{{Name: "Cookie", Value: "a=s3"}, {Name: "referer", Value: "http://u:s3@a.test/b?c"}, {Name: "Referer", Value: "http://u:s3@@a/"}}}
	got := requestText(q, uri.MustParse("http://u:s3@h.test/"))
	if want := "GET / HTTP/1.1\r\nHost: h.test\r\nCookie: ***\r\nreferer: http://a.test/b?c\r\nReferer: ***\r\n\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCutBody checks which bodies are marked as incomplete.
func TestCutBody(t *testing.T) {
	for _, test := range []struct {
		name, response string
		cut            bool
	}{
		{"complete", `"content":{"size":4,"text":"abcd"}`, false},
		{"cut text", `"content":{"size":1000,"text":"abcd"}`, true},
		{"cut base64", `"content":{"size":4,"text":"AAEC","encoding":"base64"}`, true},
		{"byte order mark", `"content":{"size":7,"text":"abcd"}`, false},
		{"UTF-16", `"headers":[{"name":"content-type","value":"text/plain; charset=UTF-16LE"}],"content":{"size":8,"text":"abcd"}`, false},
		{"longer in UTF-8", `"content":{"size":1,"text":"é"}`, false},
		{"longer with its coding", `"headers":[{"name":"content-encoding","value":"gzip"}],"content":{"size":690,"text":"abcd"}`, true},
		{"a bit longer with its coding", `"headers":[{"name":"content-encoding","value":"gzip"}],"content":{"size":24,"text":"abcd"}`, false},
		{"base64, longer with its coding", `"headers":[{"name":"content-encoding","value":"br"}],"content":{"size":8,"text":"AAEC","encoding":"base64"}`, false},
		{"no coding", `"headers":[{"name":"content-encoding","value":"identity"}],"content":{"size":24,"text":"abcd"}`, true},
		{"unknown size", `"content":{"size":-1,"text":"abcd"}`, false},
	} {
		path := t.TempDir()
		dir, err := os.OpenRoot(path)
		if err != nil {
			t.Fatal(err)
		}
		w, err := warc.NewWriter(dir, warc.Options{Name: "a.warc"})
		if err != nil {
			t.Fatal(err)
		}
		im := newImporter(t.Context(), w, path)
		err = im.har(strings.NewReader(`{"log":{"entries":[{"startedDateTime":"2026-11-01T10:00:00Z","request":{"method":"GET","url":"http://127.0.0.1/"},"response":{"status":200,` + test.response + `}}]}}`))
		im.free()
		if err := errors.Join(err, w.Close(), dir.Close()); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(path, "a.warc"))
		if marked := strings.Contains(string(text), "\r\nWARC-Truncated: length\r\n"); err != nil || marked != test.cut || im.cut > 0 != test.cut {
			t.Errorf("%s: marked %v, counted %d, %v", test.name, marked, im.cut, err)
		}
	}
}

// mhtml returns an MHTML file with the given parts.
func mhtml(parts ...string) string {
	var text strings.Builder
	text.WriteString("Content-Type: multipart/related; boundary=B\r\nContent-Location: http://127.0.0.1/dir/page\r\n\r\n")
	for _, p := range parts {
		text.WriteString("--B\r\n" + p + "\r\n")
	}
	return text.String() + "--B--\r\n"
}

// TestMHTML converts hostile files.
func TestMHTML(t *testing.T) {
	many := make([]string, maxParts+1)
	for i := range many {
		many[i] = "Content-Location: file:///\r\n\r\n"
	}
	for _, test := range []struct{ name, text, want string }{
		{"good", mhtml("Content-Location: a\r\nContent-Type: text/css\r\n\r\nx"), "http://127.0.0.1/dir/a text/css\n map[] "},
		{"no media type", mhtml("Content-Location: a\r\n\r\nx"), "http://127.0.0.1/dir/a application/octet-stream\n map[] "},
		{"invalid media type", mhtml("Content-Location: a\r\nContent-Type: text/css; x=\"\r\n\r\nx"), "http://127.0.0.1/dir/a application/octet-stream\n map[] "},
		{"no parts", mhtml(), " map[] "},
		{"repeated location", mhtml("Content-Location: a\r\n\r\nx", "Content-Location: a#b\r\n\r\ny"), "http://127.0.0.1/dir/a application/octet-stream\n map[repeated URL:1] "},
		{"path outside", mhtml("Content-Location: ../../../../etc/passwd\r\n\r\nx"), "http://127.0.0.1/etc/passwd application/octet-stream\n map[] "},
		{"file", mhtml("Content-Location: file:///etc/passwd\r\n\r\nx"), " map[no http URL:1] "},
		{"invalid URL", mhtml("Content-Location: http://[/\r\n\r\nx"), " map[invalid URL:1] "},
		{"no name", mhtml("\r\nx"), " map[no http URL:1] "},
		{"wrong base64", mhtml("Content-Location: a\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!"), " map[invalid encoding of a body:1] "},
		{"cut base64", mhtml("Content-Location: a\r\nContent-Transfer-Encoding: base64\r\n\r\nAAE"), " map[invalid encoding of a body:1] "},
		{"wrong quoted-printable", mhtml("Content-Location: a\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na\x00=G1"), " map[invalid encoding of a body:1] "},
		{"unknown encoding", mhtml("Content-Location: a\r\nContent-Transfer-Encoding: x-gzip\r\n\r\nx"), " map[unknown encoding of a body:1] "},
		{"nested", mhtml("Content-Location: a\r\nContent-Type: multipart/related; boundary=C\r\n\r\n--C--\r\n"), " map[nested parts:1] "},
		{"many parts", mhtml(many...), fmt.Sprintf(" map[no http URL:%d] too-large", maxParts)},
		{"no end", strings.TrimSuffix(mhtml("Content-Location: a\r\n\r\nx"), "--B--\r\n"), " map[] truncated"},
		{"no end of base64", strings.TrimSuffix(mhtml("Content-Location: a\r\nContent-Transfer-Encoding: base64\r\n\r\nAAE"), "\r\n--B--\r\n"), " map[] truncated"},
		{"no boundary", "Content-Type: multipart/related\r\n\r\n", " map[] integrity"},
		{"mail", "Content-Type: text/plain\r\n\r\nx", " map[] integrity"},
		{"endless header", strings.Repeat("X: y\r\n", 1_000_000), " map[] integrity"},
		{"endless line", strings.Repeat("x", 10<<20), " map[] integrity"},
		{"part with an endless header", mhtml(strings.Repeat("X: y\r\n", 100_000)), " map[] truncated"},
		{"empty", "", " map[] integrity"},
	} {
		index, skipped, err := convert(t, strings.NewReader(test.text), false)
		fault := ""
		if err != nil {
			fault = fetch.FaultOf(err).String()
		}
		if got := fmt.Sprintf("%s %v %s", index, skipped, fault); got != test.want {
			t.Errorf("%s: %q, want %q (%v)", test.name, got, test.want, err)
		}
	}
}

// TestMemory converts bodies of 64 MiB in base64 in constant memory.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large files")
	}
	base64 := func() io.Reader { return io.LimitReader(letters{}, 64<<20) }
	for _, test := range []struct {
		name  string
		text  io.Reader
		isHAR bool
	}{
		{"HAR", io.MultiReader(strings.NewReader(`{"log":{"entries":[{"startedDateTime":"2026-11-01T10:00:00Z","request":{"method":"GET","url":"http://127.0.0.1/"},"response":{"status":200,"content":{"encoding":"base64","text":"`),
			base64(), strings.NewReader(`"}}}]}}`)), true},
		{"MHTML", io.MultiReader(strings.NewReader("Content-Type: multipart/related; boundary=B\r\n\r\n--B\r\nContent-Location: http://127.0.0.1/\r\nContent-Transfer-Encoding: base64\r\n\r\n"),
			base64(), strings.NewReader("\r\n--B--\r\n")), false},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		index, skipped, err := convert(t, test.text, test.isHAR)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; err != nil || !strings.HasPrefix(index, "http://127.0.0.1/ ") || n > 24<<20 {
			t.Errorf("%s: %q, %v, %v, %d bytes allocated", test.name, index, skipped, err, n)
		}
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	return len(p), nil
}

func FuzzMHTML(f *testing.F) {
	f.Add(mhtml("Content-Location: a\r\nContent-Type: text/css\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC", "Content-ID: <x>\r\n\r\nb"))
	for _, name := range browserFiles(f, "*.mhtml") {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) { convert(t, strings.NewReader(text), false) })
}

func FuzzHAR(f *testing.F) {
	f.Add("http://127.0.0.1/a", "POST", "q=1", "Content-Type", "text/plain", "OK", 200)
	f.Fuzz(func(t *testing.T, url, method, data, name, value, status string, code int) {
		fields := []har.Field{{Name: name, Value: value}}
		entry := map[string]any{
			"startedDateTime": "2026-11-01T10:00:00Z",
			"request":         map[string]any{"method": method, "url": url, "headers": fields, "postData": map[string]any{"text": data}},
			"response":        map[string]any{"status": code, "statusText": status, "headers": fields, "content": map[string]any{"text": data}},
		}
		text, err := json.Marshal(map[string]any{"log": map[string]any{"entries": []any{entry}}})
		if err != nil {
			t.Fatal(err)
		}
		convert(t, bytes.NewReader(text), true)
	})
}
