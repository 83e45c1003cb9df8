package fetch_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
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
	files := goBlocks(string(page))
	_, code, _ := strings.Cut(files[0], "\n)\n\n")
	if len(files) != 2 || !strings.Contains(string(source), code) {
		t.Error("doc/writing-a-scheme.md differs from example_scheme_test.go")
	}
}

// goBlocks returns the Go files in a page.
func goBlocks(page string) (files []string) {
	for {
		_, rest, ok := strings.Cut(page, "```go\n")
		if !ok {
			return files
		}
		file, rest, _ := strings.Cut(rest, "```")
		files, page = append(files, file), rest
	}
}

// TestFingerProgram builds the two files of doc/writing-a-scheme.md and runs the
// program with a server on this machine.
func TestFingerProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if line, err := bufio.NewReader(conn).ReadString('\n'); err == nil {
			io.WriteString(conn, strings.TrimSpace(line)+" is at lunch\r\n")
		}
	}()
	page, err := os.ReadFile("../doc/writing-a-scheme.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{} // an overlay makes the files a folder of this module
	for i, text := range goBlocks(string(page)) {
		name := []string{"finger.go", "main.go"}[i]
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "example", name)] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "-overlay", file, "./example", "finger://"+server.Addr().String()+"/alice")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "alice is at lunch\r\n" {
		t.Errorf("%v: %s", err, out)
	}
}
