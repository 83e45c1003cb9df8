package uri

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"unsafe"
)

func TestSize(t *testing.T) {
	if n := unsafe.Sizeof(URI{}); n != 48 {
		t.Errorf("a URI is %d bytes, want 48", n)
	}
}

func TestZero(t *testing.T) {
	var zero URI
	empty := MustParse("")
	if !zero.IsZero() || empty.IsZero() || zero == empty {
		t.Error("the zero URI and the empty reference are the same")
	}
	for _, l := range []Level{Syntax, ByScheme} {
		if got := zero.Normalize(l); got != zero {
			t.Errorf("Normalize(%v) of the zero URI is %#v", l, got)
		}
	}
	for _, got := range []URI{zero.WithoutFragment(), zero.WithoutQuery(), zero.WithoutUserinfo(), Relativize(zero, zero)} {
		if got != zero {
			t.Errorf("the zero URI became %#v", got)
		}
	}
	if s := zero.String() + zero.Unredacted() + zero.Scheme() + zero.Host() + zero.Path(); s != "" {
		t.Errorf("the zero URI has %q", s)
	}
	if got := zero.GoString(); got != "uri.URI{}" {
		t.Errorf("GoString = %s", got)
	}
}

func TestComparable(t *testing.T) {
	a := MustParse("http://h/a#f")
	if b := MustParse("http://h/a"); a == b || a.WithoutFragment() != b {
		t.Error("== does not compare the bytes")
	}
	if MustParse("HTTP://h") == MustParse("http://h") {
		t.Error("== normalizes")
	}
}

func TestString(t *testing.T) {
	for in, want := range map[string]string{
		"http://u:secret@h:8/p?q#f": "http://u:***@h:8/p?q#f",
		"//u:se:cret@h":             "//u:***@h",
		"http://:secret@h":          "http://:***@h",
		"http://u:@[::1]/":          "http://u:***@[::1]/", // an empty password is also hidden
		"http://u@h/":               "http://u@h/",
		"http://@h/":                "http://@h/",
		"http://h/u:p@x":            "http://h/u:p@x",
		"mailto:u:p@h":              "mailto:u:p@h",
		"":                          "",
	} {
		u := MustParse(in)
		if got := u.String(); got != want {
			t.Errorf("String of %q = %q, want %q", in, got, want)
		}
		if got := MustParse(want).String(); got != want {
			t.Errorf("String of %q = %q, want itself", want, got)
		}
		if u.Unredacted() != in {
			t.Errorf("Unredacted of %q = %q", in, u.Unredacted())
		}
	}
}

func TestPasswordIsNotPrinted(t *testing.T) {
	u := MustParse("ftp://user:secret@h/p")
	var out bytes.Buffer
	fmt.Fprintf(&out, "%v %+v %#v %s %q %x\n", u, u, u, u, u, "not "+u.String())
	fmt.Fprintf(&out, "%v %+v %s\n", u.Parts(), u.Parts(), u.Parts())
	fmt.Fprintln(&out, u, []URI{u}, map[URI]int{u: 1}, struct{ URL URI }{u}, &u)
	if err := json.NewEncoder(&out).Encode(map[string]any{"url": u, "urls": []URI{u}}); err != nil {
		t.Fatal(err)
	}
	slog.New(slog.NewJSONHandler(&out, nil)).Info("got", "url", u)
	slog.New(slog.NewTextHandler(&out, nil)).Info("got", "url", u, "all", []URI{u})
	for _, hidden := range []string{"secret", "736563726574"} {
		if bytes.Contains(out.Bytes(), []byte(hidden)) {
			t.Errorf("%q appears in:\n%s", hidden, out.Bytes())
		}
	}
	if n := bytes.Count(out.Bytes(), []byte("ftp://user:***@h/p")); n < 10 {
		t.Errorf("the URL appears %d times in:\n%s", n, out.Bytes())
	}
}

func TestUser(t *testing.T) {
	for _, c := range []struct {
		in, name, password string
		has                bool
	}{
		{"ftp://h/", "", "", false},
		{"ftp://@h/", "", "", false},
		{"ftp://a@h/", "a", "", false},
		{"ftp://a:@h/", "a", "", true},
		{"ftp://a:b:c@h/", "a", "b:c", true},
		{"ftp://a%3Ab:%40@h/", "a%3Ab", "%40", true},
		{"ftp:a:b@h", "", "", false},
	} {
		name, password, has := MustParse(c.in).User()
		if name != c.name || password != c.password || has != c.has {
			t.Errorf("User of %q = %q, %q, %v", c.in, name, password, has)
		}
	}
}

func TestSchemeLowerCase(t *testing.T) {
	u := MustParse("HTTP://H")
	if u.Scheme() != "http" || u.Parts().Scheme != "HTTP" {
		t.Errorf("Scheme %q, as written %q", u.Scheme(), u.Parts().Scheme)
	}
}
