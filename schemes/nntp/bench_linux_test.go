package nntp_test

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/schemes/nntp"
)

// BenchmarkRange brings 20,000 articles of 4 KiB from INN as one range, and some
// of them with one command at a time, as most clients do: there Nagle's rule on
// one side meets delayed acknowledgements on the other, so this is also
// measured with acknowledgements that are sent at once. What comes is compared
// with what was posted.
func BenchmarkRange(b *testing.B) {
	const count, few = 20_000, 500
	s := peer.INN(b, peer.INNOptions{})
	want, wantFew := sha256.New(), ""
	for n := range count {
		text := articleText(n+1, strings.Repeat(fmt.Sprintf("%08d the quick brown fox jumps over the lazy dog, and so on\r\n", n), 58))
		s.Feed(text)
		io.WriteString(want, stored(n+1, text))
		if n+1 == few {
			wantFew = string(want.Sum(nil))
		}
	}
	check := func(b *testing.B, got hash.Hash, want string) {
		if string(got.Sum(nil)) != want {
			b.Fatal("not what was posted")
		}
	}
	rate := func(b *testing.B, count int) {
		b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "articles/s")
	}
	b.Run("range", func(b *testing.B) {
		c := client(b, nntp.Options{Server: s.Addr})
		for b.Loop() {
			got := sha256.New()
			resp, err := c.Get(b.Context(), fmt.Sprintf("nntp:local.test/1-%d", count))
			if err != nil {
				b.Fatal(err)
			}
			for m, err := range nntp.Messages(resp.Media, resp.Body) {
				if err == nil {
					_, err = io.Copy(got, m)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			resp.Body.Close()
			check(b, got, string(want.Sum(nil)))
		}
		rate(b, count)
	})
	for name, quick := range map[string]bool{"one at a time": false, "one at a time, acknowledged at once": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got := sha256.New()
				oneAtATime(b, s.Addr, few, quick, got)
				check(b, got, wantFew)
			}
			rate(b, few)
		})
	}
}

// oneAtATime writes the articles of local.test up to last, as a client brings
// them that waits for each answer.
func oneAtATime(b *testing.B, addr string, last int, quick bool, w io.Writer) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		b.Fatal(err)
	}
	r := line.NewReader(readerFunc(func(p []byte) (int, error) {
		if quick { // the kernel forgets it
			raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) })
		}
		return conn.Read(p)
	}))
	ask := func(format string, args ...any) {
		if format != "" {
			fmt.Fprintf(conn, format+"\r\n", args...)
		}
		if reply, err := r.ReadStatus(); err != nil || reply.Code/100 != 2 {
			b.Fatal(reply, err)
		}
	}
	ask("")
	ask("MODE READER")
	ask("GROUP local.test")
	for n := range last {
		ask("ARTICLE %d", n+1)
		if _, err := io.Copy(w, r.Block(0)); err != nil {
			b.Fatal(err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
