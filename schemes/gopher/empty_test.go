package gopher_test

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/schemes/gopher"
)

// TestEmptyMenu checks that a menu of 0 bytes is reported as doubtful. An empty
// file and a menu with a final "." line are complete.
func TestEmptyMenu(t *testing.T) {
	const doubt = "without sending data"
	for _, c := range []struct {
		name, path, answer string
		want               bool
	}{
		{"menu of 0 bytes", "/1/x", "", true},
		{"root menu of 0 bytes", "", "", true},
		{"search results of 0 bytes", "/7/x%09words", "", true},
		{`menu with only the "." line`, "/1/x", ".\r\n", false},
		{"menu with one item", "/1/x", "1a\tb\th\t70\r\n", false},
		{"text of 0 bytes", "/0/x", "", false},
		{"file of 0 bytes", "/9/x", "", false},
		{"empty Gopher+ menu", "/1/x%09%09+", "+-2\r\n", false},
	} {
		net := faultnet.NewNetwork(t)
		net.Serve("192.0.2.1:70", faultnet.Script{faultnet.Expect("\r\n$"), faultnet.Send(c.answer), faultnet.Fin()})
		client := clientOf(t, gopher.Options{}, func(o *fetch.Options) { o.Dial = net.Dial })
		r := fetchURL(t.Context(), t, client, "gopher://192.0.2.1"+c.path)
		if r.Err != nil || strings.Contains(r.Response.Doubt, doubt) != c.want || strings.Contains(strings.Join(r.Notes, "\n"), doubt) != c.want {
			t.Errorf("%s: doubt %q, notes %q, %v", c.name, r.Response.Doubt, r.Notes, r.Err)
		}
	}
}
