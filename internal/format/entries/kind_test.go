package entries

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestMarkedMedia tests that the kind of an object is known from the media type
// of its record.
func TestMarkedMedia(t *testing.T) {
	for _, c := range []struct {
		name, media string
		kind        fetch.Kind
		want        string
	}{
		{"document", "text/plain", fetch.Document, "text/plain"},
		{"listing of this module", Media, fetch.Menu, Media},
		{"gemtext", "text/gemini; lang=en", fetch.Menu, "text/gemini; lang=en"},
		{"pop", "text/x-pop3-list", fetch.Menu, "text/x-pop3-list"},
		{"result of an ldap search", "text/x-ldif; scope=one", fetch.Menu, "text/x-ldif; scope=one"},
		{"type of documents and listings", "text/plain; charset=utf-8", fetch.Menu, "text/plain; charset=utf-8; kind=menu"},
		{"invalid type", ";;", fetch.Menu, ";;; kind=menu"},
		{"unknown type", "", fetch.Menu, "; kind=menu"},
	} {
		got := MarkedMedia(c.media, c.kind)
		if kind, media := KindOf(got), UnmarkedMedia(got); got != c.want || kind != c.kind || media != c.media {
			t.Errorf("%s: got %q, which is read as %s of type %q", c.name, got, kind, media)
		}
	}
}
