package sftp_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestDropbear runs the tests of the contract with dropbear, and logs in with a
// password.
func TestDropbear(t *testing.T) {
	s := peer.Dropbear(t)
	s.Put("sub/data.bin", big)
	s.Put("sub/a b#?.txt", []byte("x"))
	o := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.UserKey}
	root := "sftp://" + peer.User + "@" + s.Addr + s.Root
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return sftp.Schemes(o) },
		Document: root + "/sub/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/sub/",
		Names:    []string{"data.bin", "a b#?.txt"},
		Rejected: []string{"sftp:///x"},
	})
	c := schemetest.NewClient(t, sftp.Schemes(sftp.Options{KnownHosts: o.KnownHosts}))
	url := "sftp://" + peer.User + ":" + peer.Password + "@" + s.Addr + s.Root + "/sub/a%20b%23%3F.txt"
	if _, body, err := schemetest.Read(t, c, url); err != nil || body != "x" {
		t.Errorf("password: got %q, %v", body, err)
	}
}
