package tftp_test

import (
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/tftp"
)

// TestAtftpd retrieves files from atftpd, with and without options.
func TestAtftpd(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name    string
		args    []string
		options tftp.Options
	}{
		{"options", nil, tftp.Options{}},
		{"server without block sizes", []string{"--no-blksize"}, tftp.Options{}},
		{"server without sizes", []string{"--no-tsize"}, tftp.Options{}},
		{"no options", nil, tftp.Options{NoOptions: true}},
	} {
		t.Run(server.name, func(t *testing.T) {
			t.Parallel()
			s := peer.Atftpd(t, server.args...)
			c := schemetest.NewClient(t, tftp.Schemes(server.options))
			for _, size := range []int{0, 1, 511, 512, 513, 1428, 70_000} {
				body := random(size)
				s.Put("dir/file", body)
				if _, got, err := schemetest.Read(t, c, "tftp://"+s.Addr+"/dir/file"); err != nil || got != string(body) {
					t.Fatalf("%d bytes: got %d bytes, %v", size, len(got), err)
				}
			}
			if _, _, err := schemetest.Read(t, c, "tftp://"+s.Addr+"/none"); fetch.FaultOf(err) != fetch.NotFound {
				t.Errorf("missing file: got %v", err)
			}
		})
	}
}
