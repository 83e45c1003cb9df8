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

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/nntp"
)

// BenchmarkRange measures the download of 20,000 articles of 4 KiB from INN as
// one range. For comparison it measures a client that waits for each response,
// with delayed and with immediate acknowledgments, because delayed
// acknowledgments interact with Nagle's algorithm.
func BenchmarkRange(b *testing.B) {
	const count, fewer = 20_000, 500
	s := peer.INN(b, peer.INNOptions{})
	want, wantFewer := sha256.New(), ""
	for n := range count {
		text := articleText(
			n+1, strings.Repeat(fmt.Sprintf("%08d the quick brown fox jumps over the lazy dog, and so on\r\n", n), 58),
		)
		s.Feed(text)
		io.WriteString(want, storedText(n+1, text))
		if n+1 == fewer {
			wantFewer = string(want.Sum(nil))
		}
	}
	check := func(b *testing.B, got hash.Hash, want string) {
		if string(got.Sum(nil)) != want {
			b.Fatal("got other articles than the posted articles")
		}
	}
	rate := func(b *testing.B, count int) {
		b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "articles/s")
	}
	b.Run("range", func(b *testing.B) {
		c := newClient(b, nntp.Options{Server: s.Addr})
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
	for name, quickAck := range map[string]bool{"sequential": false, "sequential with immediate acknowledgments": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				got := sha256.New()
				readSequentially(b, s.Addr, fewer, quickAck, got)
				check(b, got, wantFewer)
			}
			rate(b, fewer)
		})
	}
}

// readSequentially writes the articles 1 to last of local.test to w. It sends
// each command after the response to the previous command.
func readSequentially(b *testing.B, addr string, last int, quickAck bool, w io.Writer) {
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
		if quickAck { // the kernel resets the option
			raw.Control(func(fd uintptr) { syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) })
		}
		return conn.Read(p)
	}))
	command := func(format string, args ...any) {
		if format != "" {
			fmt.Fprintf(conn, format+"\r\n", args...)
		}
		if reply, err := r.ReadStatus(); err != nil || reply.Code/100 != 2 {
			b.Fatal(reply, err)
		}
	}
	command("")
	command("MODE READER")
	command("GROUP local.test")
	for n := range last {
		command("ARTICLE %d", n+1)
		if _, err := io.Copy(w, r.Block(0)); err != nil {
			b.Fatal(err)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
