package sftp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/internal/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers and the requests in flight.
var big = bytes.Repeat([]byte("0123456789abcdef\x00\xff\r\n"), 300_000)

func TestOpenSSH(t *testing.T) {
	s := peer.SSHD(t, peer.SSHDOptions{})
	s.Put("sub/data.bin", big)
	s.Put("sub/a b#?.txt", []byte("x"))
	s.Put("empty", nil)
	for _, link := range [][2]string{{"data.bin", "sub/link"}, {"..", "sub/up"}, {"nowhere", "sub/dangling"}} {
		if err := os.Symlink(link[0], filepath.Join(s.Root, link[1])); err != nil {
			t.Fatal(err)
		}
	}
	o := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.UserKey}
	root := "sftp://" + peer.User + "@" + s.Addr + s.Root
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return sftp.Schemes(o) },
		Document: root + "/sub/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/sub/",
		Names:    []string{"data.bin", "a b#?.txt", "link", "up", "dangling"},
		Rejected: []string{"sftp:///x", "sftp://127.0.0.1/a?b", "sftp://127.0.0.1/a%00b", "sftp://127.0.0.1:25/", "sftp://127.0.0.1:6379/"},
	})
	c := schemetest.NewClient(t, sftp.Schemes(o))
	_ = c
}
