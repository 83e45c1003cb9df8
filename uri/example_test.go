package uri_test

import (
	"fmt"

	"github.com/anyurl/fetch/uri"
)

func ExampleParse() {
	u, err := uri.Parse("ftp://anonymous:secret@ftp.example:2121/pub/a%20file;type=i")
	if err != nil {
		fmt.Println(err)
		return
	}
	port, ok := u.Port()
	fmt.Println(u) // the password is hidden
	fmt.Println(u.Scheme(), u.Host(), port, ok, u.Path())

	_, err = uri.Parse("http://ftp.example:21x/")
	fmt.Println(err)
	// Output:
	// ftp://anonymous:***@ftp.example:2121/pub/a%20file;type=i
	// ftp ftp.example 2121 true /pub/a%20file;type=i
	// invalid URI at byte 21: character not allowed in port
}

func ExampleURI_Resolve() {
	base := uri.MustParse("http://a/b/c/d;p?q")
	for _, link := range []string{"g", "../g", "/g", "//g", "?y", "#s", "../../../g"} {
		ref, err := uri.ParseReference(link)
		if err != nil {
			fmt.Println(err)
			continue
		}
		u, err := base.Resolve(ref)
		fmt.Println(u, err)
	}
	// Output:
	// http://a/b/c/g <nil>
	// http://a/b/g <nil>
	// http://a/g <nil>
	// http://g <nil>
	// http://a/b/c/d;p?y <nil>
	// http://a/b/c/d;p?q#s <nil>
	// http://a/g <nil>
}

func ExampleMode_Resolve() {
	base, ref := uri.MustParse("http://a/b/c/d;p?q"), uri.MustParse("?y")
	for _, mode := range []uri.Mode{uri.RFC3986, uri.Draft2003, uri.Draft1997} {
		u, err := mode.Resolve(base, ref)
		fmt.Println(mode, u, err)
	}
	// Output:
	// RFC 3986 http://a/b/c/d;p?y <nil>
	// draft of 2003 http://a/b/c/d;p?y <nil>
	// draft of 1997 http://a/b/c/?y <nil>
}

func ExampleURI_Normalize() {
	u := uri.MustParse("HTTP://Example.COM:80/%7euser/./a/../%7Bb%7d")
	fmt.Println(u.Normalize(uri.Syntax))
	fmt.Println(u.Normalize(uri.ByScheme))
	// Output:
	// http://example.com:80/~user/%7Bb%7D
	// http://example.com/~user/%7Bb%7D
}

func ExampleEquivalent() {
	a, b := uri.MustParse("http://example.com"), uri.MustParse("HTTP://EXAMPLE.com:80/")
	fmt.Println(uri.Equivalent(a, b, uri.Syntax), uri.Equivalent(a, b, uri.ByScheme))
	// Output: false true
}

func ExampleRelativize() {
	base := uri.MustParse("http://a/b/c/d")
	for _, target := range []string{"http://a/b/c/e?y", "http://a/b/x/y", "http://a/z", "https://a/b"} {
		fmt.Println(uri.Relativize(base, uri.MustParse(target)))
	}
	// Output:
	// e?y
	// ../x/y
	// /z
	// https://a/b
}

func ExampleBuild() {
	u, err := uri.Build(uri.Parts{
		Scheme: "gopher",
		Host:   "gopher.example",
		Path:   "/1" + uri.Escape("/a menu?", uri.Path),
	})
	fmt.Println(u, err)
	// Output: gopher://gopher.example/1/a%20menu%3F <nil>
}

func ExampleUnescape() {
	fmt.Println(uri.Unescape("a%2Fb"))
	fmt.Println(uri.Unescape("100%"))
	// Output:
	// a/b <nil>
	//  invalid URI at byte 3: malformed percent-encoding
}

func ExampleExtract() {
	const text = `Yes, Jim, I found it under "http://www.w3.org/Addressing/",
but you can probably pick it up from <ftp://foo.example.
com/rfc/>. (Or see http://www.example/a-list.)`
	for f := range uri.Extract(text) {
		fmt.Println(f.URI, f.Start)
	}
	// Output:
	// http://www.w3.org/Addressing/ 28
	// ftp://foo.example.com/rfc/ 98
	// http://www.example/a-list 136
}

func ExampleGuess() {
	for _, text := range []string{"www.w3.org/Addressing/", "ftp.example.org", "localhost:8080", "mailto:a@example.org", "user:pass@host"} {
		fmt.Println(uri.Guess(text, ""))
	}
	// Output:
	// http://www.w3.org/Addressing/ true <nil>
	// ftp://ftp.example.org true <nil>
	// http://localhost:8080 true <nil>
	// mailto:a@example.org false <nil>
	//  false invalid URI at byte 4: ambiguous: a scheme or a user name
}
