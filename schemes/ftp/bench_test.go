package ftp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	library "github.com/jlaffaye/ftp"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// dialLibrary logs in with github.com/jlaffaye/ftp.
func dialLibrary(t testing.TB, s *peer.Server) *library.ServerConn {
	t.Helper()
	c, err := library.Dial(s.Addr, library.DialWithTimeout(5*time.Second), library.DialWithShutTimeout(5*time.Second),
		library.DialWithDialFunc(func(network, address string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(context.Background(), network, address)
		}))
	if err == nil {
		err = c.Login("anonymous", "fetch@")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Quit() })
	return c
}

// BenchmarkSmallFiles brings files of 1 KiB from vsftpd over one control
// connection, by this package and by the library.
func BenchmarkSmallFiles(b *testing.B) {
	s := peer.Vsftpd(b, peer.FTPOptions{})
	content := make([]byte, 1<<10)
	names := make([]string, 200)
	for i := range names {
		names[i] = fmt.Sprintf("%03d", i)
		s.Put(names[i], content)
	}
	drain := func(b *testing.B, r io.ReadCloser, err error) {
		var n int64
		if err == nil {
			n, err = io.Copy(io.Discard, r)
		}
		if err == nil {
			err = r.Close()
		}
		if err != nil || n != int64(len(content)) {
			b.Fatalf("%d bytes, %v", n, err)
		}
	}
	b.Run("fetch", func(b *testing.B) {
		c := fetch.New(fetch.Options{Policy: fetch.Typed()}, ftp.Schemes(ftp.Options{})...)
		defer c.Close()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			resp, err := c.Get(b.Context(), "ftp://"+s.Addr+"/"+names[i%len(names)])
			if err != nil {
				b.Fatal(err)
			}
			drain(b, resp.Body, nil)
		}
	})
	b.Run("library", func(b *testing.B) {
		c := dialLibrary(b, s)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			r, err := c.Retr(names[i%len(names)])
			if err != nil {
				b.Fatal(err)
			}
			drain(b, r, nil)
		}
	})
}
