package iri

import (
	"reflect"
	"testing"
)

// FuzzCompleteURI verifies that the fast path of Guess returns the same results
// as the function guess.
func FuzzCompleteURI(f *testing.F) {
	for _, s := range []string{
		"http://h/", "HTTP://h:80/a?b#c", "http://u:p@[::1]:80", "http://[fe80::1%25eth0]/", "http://h%C3%BC/", "url://h/", "URI:http://h/",
		"URL://", "file:///x", "mailto:a@b", "//h/", "/x", "h:80/x", "x:///", "<http://h/>", " http://h/", "http://h/%zz", "http://ü/", "a://", "",
	} {
		f.Add(s, "")
	}
	f.Add("h/x", "ftp")
	f.Fuzz(func(t *testing.T, text, scheme string) {
		u, guessed, err := Guess(text, scheme)
		v, slowGuessed, wrong := guess(text, scheme)
		if u != v || guessed != slowGuessed || !reflect.DeepEqual(err, wrong) {
			t.Errorf("%q: %q, %v, %v, and by a guess %q, %v, %v", text, u, guessed, err, v, slowGuessed, wrong)
		}
	})
}
