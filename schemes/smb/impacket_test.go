package smb

import (
	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// TestImpacket uses the server of impacket.
func TestImpacket(t *testing.T) {
	s := peer.Impacket(t, false)
	s.Put("dir/data.bin", big)
	s.Put("dir/a b.txt", []byte("x"))
	s.Put("empty", nil)
	root := "smb://" + s.Addr + "/FILES"
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  Schemes,
		Document: root + "/dir/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/dir/",
		Names:    []string{"data.bin", "a b.txt"},
	})
	c := schemetest.NewClient(t, Schemes())
	for _, test := range []struct{ name, url, want string }{
		{"shares", "smb://" + s.Addr + "/", "menu of 2"},
		{"share", root + "/", "menu of 2"},
		{"missing share", "smb://" + s.Addr + "/none/", "not-found"},
		{"empty file", root + "/empty", "document of 0 bytes"},
		{"directory without a slash", root + "/dir", "menu of 2"},
		{"missing directory", root + "/none/", "not-found"},
	} {
		if got := schemetest.Summary(c.Get(t.Context(), test.url)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestImpacketLogin logs in on the server of impacket.
func TestImpacketLogin(t *testing.T) {
	s := peer.Impacket(t, true)
	s.Put("data.bin", big)
	c := schemetest.NewClient(t, Schemes())
	for user, want := range map[string]string{
		peer.User + ":" + peer.Password + "@": fmt.Sprintf("document of %d bytes", len(big)), peer.User + ":x@": "auth", "": "auth",
	} {
		if got := schemetest.Summary(c.Get(t.Context(), "smb://"+user+s.Addr+"/FILES/data.bin")); got != want {
			t.Errorf("%q: %s, want %s", user, got, want)
		}
	}
}
