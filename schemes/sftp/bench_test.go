package sftp_test

import (
	"io"
	"os"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// BenchmarkGet measures the retrieval of a file of 256 MiB from OpenSSH.
func BenchmarkGet(b *testing.B) {
	const size = 256 << 20
	s := peer.SSHD(b, peer.SSHDOptions{})
	if err := os.Truncate(s.Put("big", nil), size); err != nil {
		b.Fatal(err)
	}
	c := schemetest.NewClient(b, sftp.Schemes(sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: s.UserKey}))
	b.SetBytes(size)
	for b.Loop() {
		resp, err := c.Get(b.Context(), "sftp://"+peer.User+"@"+s.Addr+s.Root+"/big")
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{resp.Body}, make([]byte, 128<<10))
		resp.Body.Close()
		if n != size || err != nil {
			b.Fatalf("got %d bytes, %v", n, err)
		}
	}
}
