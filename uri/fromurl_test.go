package uri_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func ExampleFromURL() {
	u, err := uri.FromURL(&url.URL{Scheme: "ftp", Host: "ftp.example", Path: "/a file", User: url.UserPassword("joe", "secret")})
	fmt.Println(u, err)
	_, err = uri.FromURL(&url.URL{Path: "//ftp.example/"})
	fmt.Println(err)
	// Output:
	// ftp://joe:***@ftp.example/a%20file <nil>
	// invalid URI at byte 0: host would be parsed as another component
}

func TestFromURL(t *testing.T) {
	for _, text := range []string{
		"http://h/", "http://h", "http://h:/", "http://h:80/a%2Fb/%41?q=%20+&;#f%23", "http://[::1]:8080/", "http://j%3Ao:p%40w@h/",
		"http://j:@h/", "mailto:a@b", "file:///etc/motd", "file:/etc/motd", "news:a.b", "http://h?", "//h/p", "/p", "p", "?q", "#f", "",
		"gopher://h/0a%09b", "ftp://h/%2Fetc/a;type=i", "http://h/a//b", "./a:b",
	} {
		parsed, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if u, err := uri.FromURL(parsed); err != nil || u.Unredacted() != text {
			t.Errorf("%q: %q, %v", text, u.Unredacted(), err)
		}
	}
	for name, u := range map[string]*url.URL{
		"nil":                    nil,
		"space in the query":     {Scheme: "http", Host: "h", RawQuery: "a b"},
		"fragment in the query":  {Scheme: "http", Host: "h", RawQuery: "a#b"},
		"line break in query":    {Scheme: "http", Host: "h", RawQuery: "a\r\nb"},
		"not ASCII in the query": {Scheme: "http", Host: "h", RawQuery: "ü"},
		"path that is a host":    {Path: "//evil/x"},
		"path without slash":     {Scheme: "http", Host: "h", Path: "a"},
		"opaque host":            {Scheme: "http", Opaque: "//evil/x"},
		"opaque query":           {Scheme: "http", Opaque: "a?b"},
		"scheme of two":          {Scheme: "http://evil/?x", Host: "h"},
		"userinfo in the host":   {Scheme: "http", Host: "good@evil"},
		"path in the host":       {Scheme: "http", Host: "evil/x"},
		"port with letters":      {Scheme: "http", Host: "h:http"},
		"zone":                   {Scheme: "http", Host: "[fe80::1%eth0]"},
	} {
		u, err := uri.FromURL(u)
		var e *uri.Error
		if !errors.As(err, &e) || !u.IsZero() {
			t.Errorf("%s: %v, %v", name, u, err)
		}
	}
}

// FuzzFromURL verifies that a URL parsed by net/url and converted by FromURL
// has the same text.
func FuzzFromURL(f *testing.F) {
	f.Add("http://u:p@h:80/a%2Fb?q#f")
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := url.Parse(text)
		if err != nil {
			return
		}
		if u, err := uri.FromURL(parsed); err == nil && u.Unredacted() != parsed.String() {
			t.Errorf("%q: %q", parsed, u.Unredacted())
		}
	})
}
