package localfile

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

func TestLocate(t *testing.T) {
	for _, c := range []struct {
		url, want string
		dir       bool
	}{
		{"file:///a/b", "/a/b", false},
		{"file:/a/b", "/a/b", false},
		{"file://LOCALHOST/a/b/", "/a/b", true},
		{"file:////a//b", "/a/b", false}, // file:// with a path that begins with two slashes
		{"file:///", "/", true},
		{"file:///.", "/", true},
		{"file:///..", "/", true},
		{"file:///%2e%2e/", "/", true},
		{"file:///%2E%2e/%2e/x", "/x", false},
		{"file:///a/b/../../../../c", "/c", false},
		{"file:///a/..b/...", "/a/..b/...", false}, // names that begin with dots
		{"file:///a%20b/%e6%bc%a2%ff%3F%23%25", "/a b/\xe6\xbc\xa2\xff?#%", false},
		{"file:///a%0d%0ab", "/a\r\nb", false}, // valid in a name, because no line is sent
		{`file:///a%5cb`, `/a\b`, false},
	} {
		p, err := Locate(uri.MustParse(c.url))
		if err != nil || p.String() != c.want || p.dir != c.dir {
			t.Errorf("%s: got %q, %v, %v, want %q, %v", c.url, p, p.dir, err, c.want, c.dir)
		}
	}
}

func TestDOSPath(t *testing.T) {
	for _, c := range []struct{ path, want string }{
		{"C:/", `C:\`},
		{"c:/Users/me/a b.txt", `c:\Users\me\a b.txt`},
		{"C:/console.txt", `C:\console.txt`},
		{"C:/COM/LPT", `C:\COM\LPT`},
		{"", ""},
		{"Users/me", ""},               // no drive letter
		{"C|/x", ""},                   // older form "C|"
		{"1:/x", ""},                   // digit as the drive letter
		{"C:x", ""},                    // path relative to the current directory of the drive
		{`\\server/share`, ""},         // network share
		{`C:/\\?\x`, ""},               // device path
		{`C:/a\..\b`, ""},              // backslash in a name
		{"C:/a.txt:stream", ""},        // alternate data stream
		{"C:/a.txt::$DATA", ""},        // alternate data stream of a directory
		{"C:/NUL", ""},                 // device name
		{"C:/dir/con.txt", ""},         // device name with an extension
		{"C:/dir/Aux .txt", ""},        // device name with an extension and a space
		{"C:/com1", ""},                // numbered device name
		{"C:/LPT².log", ""},            // device name with a superscript digit
		{"C:/a./x", ""},                // name with a final dot
		{"C:/a ", ""},                  // alternate data stream of a directory
		{"C:/a*", ""},                  // wildcard
		{"C:/a\x01", ""},               // control character
		{"C:/CONOUT$", ""},             // console device
		{"C:/" + "a.b/nul.tar.gz", ""}, // device name with two extensions
	} {
		var names []string
		if c.path != "" {
			names = strings.Split(strings.TrimSuffix(c.path, "/"), "/")
		}
		got, err := dosPath(names)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: got %q, %v, want %q", c.path, got, err, c.want)
		}
	}
}

// FuzzFilePath checks that a path is absolute and has no dot segment and no
// NUL, and that the URL of the path names it again.
func FuzzFilePath(f *testing.F) {
	for _, s := range []string{
		"file:///etc/motd", "file:/a/../../b/", "file:////x//./%2e%2e/%2e%2e/%2e%2e/etc", "file://localhost/%2f%00",
		"file:///%252e%252e/", "file:///a/%2e./.%2e/...", "file:///C:/NUL", "file://evil/x", "file:x?y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := uri.Parse(s)
		if err != nil || u.Scheme() != "file" {
			return
		}
		p, err := Locate(u)
		if err != nil {
			if class := fetch.FaultOf(err); class != fetch.BadURL && class != fetch.BadAddress {
				t.Errorf("%q: error %v has the fault %v", s, err, class)
			}
			return
		}
		path := p.String()
		if path[0] != '/' || strings.Contains(path, "//") || strings.ContainsRune(path, 0) {
			t.Errorf("%q: path %q", s, path)
		}
		for _, name := range p.names {
			if name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
				t.Errorf("%q: name %q in %q", s, name, path)
			}
		}
		again, err := u.WithPath(p.path())
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if q, err := Locate(again); err != nil || q.String() != path || q.dir != p.dir && path != "/" {
			t.Errorf("%q: %q is parsed as %q, %v", s, again, q, err)
		}
	})
}
