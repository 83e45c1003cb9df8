//go:build unix

package ftp_test

import (
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/ftp"
)

// measureCPU reports what this process used of the processor for each file.
func measureCPU(b *testing.B) func() {
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkSmallFiles brings files of 1 KiB from vsftpd over one control
// connection, by this package and by the library.
func BenchmarkSmallFiles(b *testing.B) {
	s := peer.Vsftpd(b, peer.FTPOptions{Config: []string{"log_ftp_protocol=NO", "xferlog_enable=NO"}})
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
		defer measureCPU(b)()
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
		defer measureCPU(b)()
		for i := 0; b.Loop(); i++ {
			r, err := c.Retr(names[i%len(names)])
			if err != nil {
				b.Fatal(err)
			}
			drain(b, r, nil)
		}
	})
}
