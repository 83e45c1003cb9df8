package ftp_test

import (
	"bytes"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/ftp"
	"github.com/anyurl/fetch/wrap"
)

// TestSegments checks that a Client with Segments returns the same objects as
// one without: large and small files, texts and directories.
func TestSegments(t *testing.T) {
	onServers(t, peer.FTPOptions{}, func(t *testing.T, s *peer.Server) {
		big := bytes.Repeat([]byte("0123456789abcde\n"), 20<<16) // 20 MiB
		s.Put("big", big)
		s.Put("small", []byte("small\n"))
		s.Put("empty", nil)
		s.Put("dir/file", []byte("x"))
		plain := client(t, ftp.Options{})
		divided := client(t, ftp.Options{}, func(o *fetch.Options) { o.Wrap = []fetch.Middleware{wrap.Segments(3)} })
		for _, path := range []string{"/big", "/small", "/empty", "/small;type=a", "/dir/", "/dir"} {
			want, wantBody, err := schemetest.Read(t, plain, "ftp://"+s.Addr+path)
			if err != nil {
				t.Fatal(path, err)
			}
			got, body, err := schemetest.Read(t, divided, "ftp://"+s.Addr+path)
			if err != nil || body != wantBody || got.Size != want.Size || got.Validator != want.Validator || got.Kind != want.Kind {
				t.Errorf("%s: got %d bytes, size %d, %q, %v, %v; want %d, size %d, %q, %v", path, len(body), got.Size, got.Validator, got.Kind, err,
					len(wantBody), want.Size, want.Validator, want.Kind)
			}
		}
	})
}
