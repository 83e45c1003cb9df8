package save

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/anyurl/fetch/fetch"
)

func TestName(t *testing.T) {
	for _, test := range []struct{ path, want string }{
		{"/a/b.tar.gz", "b.tar.gz"},
		{"b", "b"},
		{"///foo//////////////", "foo"}, // as in curl since 8.10
		{"/dir/", "dir"},
		{"/a%20b", "a%20b"},
		{"/a b", "a%20b"},
		{"/%7euser", "~user"},
		{"/%41%2d", "A-"},
		{"/a%2fb", "a%2Fb"},
		{"/a%5Cb", "a%5Cb"},
		{`/a\b`, "a%5Cb"},
		{"/a%00b%0d%0a", "a%00b%0D%0A"},
		{"/a\x00b\r\n", "a%00b%0D%0A"},
		{"/a\x1b[31m", "a%1B%5B31m"},
		{`/a:b*c?d"e<f>g|h`, "a%3Ab%2Ac%3Fd%22e%3Cf%3Eg%7Ch"},
		{"/a!$&'()+,;=@b", "a!$&'()+,;=@b"},
		{"/%21%24%2B", "%21%24%2B"}, // reserved characters keep their escapes
		{"/.", "%2E"},
		{"/..", "%2E%2E"},
		{"/%2e%2e", "%2E%2E"},
		{"/...", "%2E.%2E"},
		{"/.bashrc", "%2Ebashrc"},
		{"/%2ebashrc", "%2Ebashrc"},
		{"/-rf", "%2Drf"},
		{"/~root", "~root"},
		{"/a.", "a%2E"},
		{"/a..", "a.%2E"},
		{"/-", "%2D"},
		{"/con", "%63on"},
		{"/CON.txt", "%43ON.txt"},
		{"/%63on", "%63on"},
		{"/com1.tar.gz", "%63om1.tar.gz"},
		{"/com10", "com10"},
		{"/com", "com"},
		{"/lpt%C2%B9", "%6Cpt¹"},
		{"/conin$", "%63onin$"},
		{"/console", "console"},
		{"/caf%C3%A9", "café"},
		{"/café", "café"},
		{"/caf\xc3%A9", "café"},
		{"/caf%e9", "caf%E9"},
		{"/%e4%b8%ad%E6%96%87.txt", "中文.txt"},
		{"/%F0%9F%98%80", "😀"},
		{"/a%E2%80%AEtxt.exe", "a%E2%80%AEtxt.exe"}, // right-to-left override
		{"/a%C2%85b", "a%C2%85b"},                   // control character of C1
		{"/a%C2%A0b", "a%C2%A0b"},                   // no-break space
		{"/%C0%AE%C0%AE", "%C0%AE%C0%AE"},           // overlong encoding of dots
		{"/%ED%A0%80", "%ED%A0%80"},                 // surrogate
		{"/%EF%BF%BD", "\uFFFD"},
		{"/100%", "100%25"},
		{"/%zz", "%25zz"},
		{"/%2", "%252"},
		{"/%252F", "%252F"},
		{"/" + strings.Repeat("x", 251), strings.Repeat("x", 251)},
		{"/" + strings.Repeat("x", 252), strings.Repeat("x", 233) + "%~d4e4680fda132078"},
		{"/x" + strings.Repeat("é", 200), "x" + strings.Repeat("é", 116) + "%~15af5976b8687b17"},
	} {
		if got, err := Name(test.path); got != test.want || err != nil {
			t.Errorf("Name(%q) = %q, %v, want %q", test.path, got, err, test.want)
		}
	}
	for _, path := range []string{"", "/", "///"} {
		if got, err := Name(path); got != "" || !errors.Is(err, fetch.Usage) {
			t.Errorf("Name(%q) = %q, %v, want %v", path, got, err, fetch.Usage)
		}
	}
}

// FuzzName checks that the name is safe and that it identifies the segment.
func FuzzName(f *testing.F) {
	for _, seed := range []string{
		"/a/b", "/..", "/%2e%2e%2f", "/con", "/a%00", "/\xff%fe", "/caf\xc3%A9", "/%", "/" + strings.Repeat("%41", 300),
		"/%E2%80%AE", "//", "/-", "/" + strings.Repeat("é", 200), "/" + strings.Repeat("?", 100), "/.%~", "/x%~0123456789abcdef",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name, err := Name(path)
		if err != nil {
			if strings.Trim(path, "/") != "" || name != "" {
				t.Errorf("Name(%q) = %q, %v", path, name, err)
			}
			return
		}
		switch {
		case name == "", len(name) > maxName, !utf8.ValidString(name), name[0] == '.', name[0] == '-', strings.HasSuffix(name, "."),
			strings.ContainsAny(name, `/\:*?"<>| `), strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }),
			!filepath.IsLocal(name), filepath.Base(name) != name, isDevice(name):
			t.Errorf("Name(%q) = %q", path, name)
		}
		segment := strings.TrimRight(path, "/")
		segment = segment[strings.LastIndexByte(segment, '/')+1:]
		if !strings.Contains(name, "%~") {
			if back, err := url.PathUnescape(name); err != nil || back != octets(segment) {
				t.Errorf("Name(%q) = %q, which stands for %q", path, name, back)
			}
		}
		// Name of a name only escapes the escapes again.
		if again, err := Name("x/" + segment + "/"); again != name || err != nil {
			t.Errorf("Name of %q is %q, with folder and slash %q, %v", path, name, again, err)
		}
	})
}

func octets(segment string) string {
	var b strings.Builder
	for segment != "" {
		c, n := octet(segment)
		b.WriteByte(c)
		segment = segment[n:]
	}
	return b.String()
}
