package http_test

import (
	"mime"
	"regexp"
	"strings"
	"testing"

	"github.com/anyurl/fetch/schemes/http"
)

func TestFilename(t *testing.T) {
	for _, test := range []struct{ field, want string }{
		{`attachment; filename="a b.txt"`, "a b.txt"},
		{`attachment; filename=a.txt`, "a.txt"},
		{`attachment; filename=a b.txt; x=y`, "a b.txt"},
		{`inline; FileName = "a.txt"`, "a.txt"},
		{`filename=a.txt`, "a.txt"},
		{`attachment; filename="a;b.txt"`, "a;b.txt"},
		{`attachment; filename="a\"b\\c.txt"`, "c.txt"},
		{`attachment; filename="a\"b.txt"`, `a"b.txt`},
		{`attachment; filename="C:\dir\a.txt"`, "a.txt"},
		{`attachment; filename="/etc/passwd"`, "passwd"},
		{`attachment; filename="../../a"`, "a"},
		{`attachment; filename="..\..\a"`, "a"},
		{`attachment; filename=".."`, ""},
		{`attachment; filename="dir/"`, ""},
		{`attachment; filename=""`, ""},
		{`attachment`, ""},
		{``, ""},
		{`attachment; filename="a.txt"; filename="b.txt"`, "a.txt"},
		{`attachment; filename="a.txt"; filename*=UTF-8''%e2%82%ac%20rates`, "€ rates"},
		{`attachment; filename*=iso-8859-1'en'%A3%20rates`, "£ rates"},
		{`attachment; filename*=UTF-8''..%2f..%5cx%00`, "x"},
		{`attachment; filename*=UTF-8''%ff; filename=a`, "a"},
		{`attachment; filename*=koi8-r''x; filename=a`, "a"},
		{`attachment; filename*=x; filename=a`, "a"},
		{`attachment; filename="a%2fb"`, "a%2fb"},
		{"attachment; filename=\"a\x1b]0;x\x07\r\nb\"", "a]0;xb"},
		{`inline; x=y"z; filename=a.txt; w="v`, "a.txt"},
		{`attachment; filename='a b.txt'`, "a b.txt"},
		{`attachment; filename="unclosed`, "unclosed"},
	} {
		if got := http.Filename(test.field); got != test.want {
			t.Errorf("%s: got %q, want %q", test.field, got, test.want)
		}
	}
}

func FuzzFilename(f *testing.F) {
	f.Add(`attachment; filename="a\"b"; filename*=UTF-8''..%2f%00`)
	f.Fuzz(func(t *testing.T, field string) {
		if name := http.Filename(field); name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00\n\r\x1b") {
			t.Errorf("%q: got %q", field, name)
		}
	})
}

// ignoredBackslash matches a backslash that escapes neither a quote nor a backslash.
var ignoredBackslash = regexp.MustCompile(`\\[^"\\]`)

// FuzzDisposition compares the name with the parameter filename that package mime
// finds. Fields are compared if mime accepts them and the name has none of the
// characters that Filename treats in its own way: directories, control characters,
// and single quotes around the name, as curl reads them.
func FuzzDisposition(f *testing.F) {
	f.Add(`attachment; filename="a b.txt"; size=3`)
	f.Add(`inline; x="a;filename=b"; filename=c.txt`)
	f.Add(`form-data; name="x"; FILENAME="a\"b"`)
	f.Add(`form-data; FILENAME="a\@b"`)
	f.Add("form-data;\nFILENAME=a")
	f.Add(`attachment; filename=a; filename*=UTF-8''%e2%82%ac`)
	f.Fuzz(func(t *testing.T, field string) {
		_, params, err := mime.ParseMediaType(field)
		want := params["filename"]
		if err != nil || strings.ContainsAny(want, `/\'`) || want != strings.TrimSpace(want) || want == "." || want == ".." {
			return
		}
		if strings.ContainsFunc(want, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == '\uFFFD' }) {
			return
		}
		if strings.ContainsAny(field, "\r\n\v\f") {
			return // mime takes these for spaces; the driver accepts no such field
		}
		if ignoredBackslash.MatchString(field) {
			return // mime removes the backslash, and Filename keeps it as curl does
		}
		if strings.Contains(field, "*") && want == "" {
			return // mime knows fewer charsets, and parts such as filename*0
		}
		if got := http.Filename(field); got != want {
			t.Errorf("%q: %q, according to mime %q", field, got, want)
		}
	})
}
