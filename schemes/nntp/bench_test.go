package nntp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/nntp"
	"github.com/anyurl/fetch/uri"
)

// overviewServer starts a server with one group and returns its address. Each
// overview response has the given number of lines.
func overviewServer(b testing.TB, lines int) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serveOverview(conn, lines)
		}
	}()
	return l.Addr().String()
}

func serveOverview(conn net.Conn, lines int) {
	defer conn.Close()
	in, out := bufio.NewScanner(conn), bufio.NewWriter(conn)
	fmt.Fprint(out, "200 hello\r\n")
	for out.Flush(); in.Scan(); out.Flush() {
		switch verb, _, _ := strings.Cut(in.Text(), " "); verb {
		case "CAPABILITIES":
			fmt.Fprint(out, "101 ok\r\nREADER\r\nOVER\r\n.\r\n")
		case "GROUP":
			fmt.Fprintf(out, "211 %d 1 %d g\r\n", lines, lines)
		case "OVER":
			fmt.Fprint(out, "224 ok\r\n")
			for n := range lines {
				fmt.Fprintf(
					out,
					"%d\tRe: a subject of some length\tAlice <alice@example.org>\tFri, 20 Nov 2026 13:32:15 +0000\t"+
						"<%d@example.org>\t<%d@example.org>\t4096\t60\tXref: x g:%d\r\n",
					n+1, n+1, n, n+1,
				)
			}
			fmt.Fprint(out, ".\r\n")
		default:
			return
		}
	}
}

// TestOverviewMemory tests that the memory for a large overview is limited.
// TestSoakOverview does the same with a million lines.
func TestOverviewMemory(t *testing.T) { checkOverviewMemory(t, 100_000) }

func checkOverviewMemory(t *testing.T, lines int) {
	c := newClient(t, nntp.Options{})
	resp, err := c.Get(t.Context(), "nntp://"+overviewServer(t, lines)+"/g")
	if err != nil {
		t.Fatal(err)
	}
	n, peak := 0, uint64(0)
	for e, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; e.Size != 4096 || e.Time.IsZero() {
			t.Fatalf("entry %d: %+v", n, e)
		}
		if n%10_000 == 0 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapSys-m.HeapReleased+m.StackSys)
		}
	}
	if n != lines || peak > 32<<20 {
		t.Errorf("got %d entries, want %d; memory %d MiB", n, lines, peak>>20)
	}
	t.Logf("%d entries, memory %d MiB", n, peak>>20)
}

func BenchmarkOverview(b *testing.B) {
	const lines = 100_000
	addr := overviewServer(b, lines)
	c := newClient(b, nntp.Options{})
	for _, entries := range []bool{false, true} {
		b.Run(map[bool]string{false: "bytes", true: "entries"}[entries], func(b *testing.B) {
			for b.Loop() {
				resp, err := c.Do(b.Context(), &fetch.Request{URL: uri.MustParse("nntp://" + addr + "/g")})
				if err != nil {
					b.Fatal(err)
				}
				if entries {
					for _, err := range resp.Entries() {
						if err != nil {
							b.Fatal(err)
						}
					}
					continue
				}
				n, err := io.Copy(io.Discard, resp.Body)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(n)
				resp.Body.Close()
			}
			b.ReportMetric(lines*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}
