package iri_test

import (
	"fmt"

	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/uri/iri"
)

func ExampleGuess() {
	fmt.Println(iri.Guess("müller.de/straße", ""))
	fmt.Println(iri.Guess("ftp.例え.テスト", ""))
	// Output:
	// http://xn--mller-kva.de/stra%C3%9Fe true <nil>
	// ftp://ftp.xn--r8jz45g.xn--zckzah true <nil>
}

func ExampleDisplay() {
	fmt.Println(iri.Display(uri.MustParse("http://www.example.com&story=breaking_news@10.0.0.1/top_story.htm")))
	fmt.Println(iri.Display(uri.MustParse("ftp://me:secret@xn--mller-kva.de/")))
	// Output:
	// http://www.example.com&stor…@10.0.0.1/top_story.htm (host: 10.0.0.1)
	// ftp://me:***@xn--mller-kva.de/ (müller.de)
}

func ExampleUnicode() {
	fmt.Println(iri.Unicode("xn--mller-kva.de"))
	fmt.Println(iri.Unicode("xn--80ak6aa92e.com")) // Cyrillic, and looks like apple.com
	// Output:
	// müller.de
	// xn--80ak6aa92e.com
}
