package scheme_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch/scheme"
	"github.com/anyurl/fetch/uri"
)

func TestAboveLimit(t *testing.T) {
	if n := len(scheme.Folders(uri.MustParse("http://h/" + strings.Repeat("a/", 1000)))); n != 101 {
		t.Errorf("got %d listings", n)
	}
}
