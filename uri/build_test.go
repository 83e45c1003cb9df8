package uri

import (
	"fmt"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	for _, c := range []struct {
		p    Parts
		want string
	}{
		{Parts{}, ""},
		{Parts{Scheme: "ftp", Host: "h", Path: "/a"}, "ftp://h/a"},
		{Parts{Scheme: "file", HasAuthority: true, Path: "/a"}, "file:///a"},
		{Parts{Scheme: "FILE", Path: "/a"}, "FILE:/a"},
		{Parts{Host: "h", HasUserinfo: true, HasPort: true, HasQuery: true, HasFragment: true}, "//@h:?#"},
		{Parts{Userinfo: "u:p", Port: "8"}, "//u:p@:8"},
		{Parts{Scheme: "a", Host: "[::1]", Port: "8", Query: "q", Fragment: "f"}, "a://[::1]:8?q#f"},
		{Parts{Scheme: "news", Path: "a@b"}, "news:a@b"},
		{Parts{HasAuthority: true, Path: "//x"}, "////x"},
		{Parts{Path: "./a:b"}, "./a:b"},
	} {
		u, err := Build(c.p)
		if err != nil || u.Unredacted() != c.want {
			t.Errorf("Build(%#v) = %q, %v, want %q", c.p, u.Unredacted(), err, c.want)
			continue
		}
		if got, err := Build(u.Parts()); err != nil || got != u {
			t.Errorf("%q is not equal to the URI built from its Parts: %q, %v", c.want, got.Unredacted(), err)
		}
	}
}

// TestBuildRejects verifies that a component cannot change the value of another
// component.
func TestBuildRejects(t *testing.T) {
	for _, p := range []Parts{
		{Scheme: "1a"},
		{Scheme: "a:b"},
		{Scheme: "a:"},
		{Scheme: "http://evil"},
		{Scheme: "a", Path: "//x"},
		{Path: "//x"},
		{Path: "a:b"},
		{Host: "h", Path: "x"},
		{Host: "h", Path: "@x"},
		{Host: "h", Path: ":80"},
		{Host: "h/x"},
		{Host: "h:80"},
		{Host: "u@h"},
		{Host: "[::1"},
		{Host: "::1"},
		{Host: "h h"},
		{Host: "h\r\n"},
		{Userinfo: "u@v", Host: "h"},
		{Userinfo: "evil/", Host: "h"},
		{Userinfo: "evil#", Host: "h"},
		{Host: "h", Port: "80a"},
		{Host: "h", Port: "80/x"},
		{Host: "h", Port: "-1"},
		{Path: "a?b"},
		{Path: "a#b"},
		{Path: "a b"},
		{Path: "a%b"},
		{Query: "a#b"},
		{Query: "a b"},
		{Fragment: "a#b"},
	} {
		if u, err := Build(p); err == nil || !u.IsZero() {
			t.Errorf("Build(%#v) = %q, %v", p, u.Unredacted(), err)
		}
	}
}

func TestPartsHideThePassword(t *testing.T) {
	good := MustParse("ftp://u:secret@h/").Parts()
	bad := good
	bad.Path = "relative"
	if s := fmt.Sprint(good, bad); strings.Contains(s, "secret") || !strings.Contains(s, "u:***@h") {
		t.Errorf("the printed Parts contain the password: %s", s)
	}
}

func TestWith(t *testing.T) {
	u := MustParse("http://u:p@h:8/a?b#c")
	must := func(v URI, err error) URI {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return v
	}
	for _, c := range []struct {
		got  URI
		want string
	}{
		{u.WithoutFragment(), "http://u:p@h:8/a?b"},
		{u.WithoutFragment().WithoutFragment(), "http://u:p@h:8/a?b"},
		{u.WithoutQuery(), "http://u:p@h:8/a#c"},
		{u.WithoutUserinfo(), "http://h:8/a?b#c"},
		{must(u.WithPath("")), "http://u:p@h:8?b#c"},
		{must(u.WithPath("//x")), "http://u:p@h:8//x?b#c"},
		{must(u.WithQuery("")), "http://u:p@h:8/a?#c"},
		{must(u.WithFragment("")), "http://u:p@h:8/a?b#"},
	} {
		if c.got != MustParse(c.want) {
			t.Errorf("got %q, want %q", c.got.Unredacted(), c.want)
		}
	}
	for _, f := range []func(string) (URI, error){u.WithPath, u.WithQuery, u.WithFragment} {
		if v, err := f("/a b"); err == nil || !v.IsZero() {
			t.Errorf("a space is accepted: %q", v.Unredacted())
		}
	}
	if v, err := MustParse("a:b").WithPath("//h"); err == nil {
		t.Errorf("a path became an authority: %q", v.Unredacted())
	}
}
