package fetch_test

import (
	"bufio"
	"bytes"
	"context"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
)

// TestFingerExample runs the suite of fetchtest with the example of
// doc/writing-a-scheme.md.
func TestFingerExample(t *testing.T) {
	body := bytes.Repeat([]byte("alice is at lunch\r\n"), 10_000)
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
					conn.Write(body)
				}
			}()
		}
	}()
	fetchtest.Run(t, fetchtest.Suite{
		Schemes: func() []fetch.Scheme { return []fetch.Scheme{finger()} },
		Options: fetch.Options{Dial: func(ctx context.Context, network string, _ netip.AddrPort) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, server.Addr().String())
		}},
		Document: "finger://127.0.0.1/alice",
		Body:     body,
		Rejected: []string{"finger://127.0.0.1/a%0d%0ab"},
		NoRanges: true,
	})
	page, err := os.ReadFile("../doc/writing-a-scheme.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("example_scheme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(page), "```go\n")
	if code, _, ok := strings.Cut(code, "```"); !ok || !strings.Contains(string(source), code) {
		t.Error("doc/writing-a-scheme.md differs from example_scheme_test.go")
	}
}
