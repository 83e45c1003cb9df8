package splice_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/internal/wire/splice"
)

// A source is a connection whose first bytes must be read with Read.
type source struct {
	net.Conn
	plain int // number of these bytes
}

func (s *source) Read(p []byte) (int, error) {
	if s.plain > 0 {
		p = p[:min(len(p), s.plain)]
	}
	n, err := s.Conn.Read(p)
	s.plain -= n
	return n, err
}

func (s *source) CanReadPipe() bool { return s.plain <= 0 && splice.CanFill(s.Conn) }

func (s *source) ReadPipe(p *splice.Pipe, limit int) (int, error) { return p.Fill(s.Conn, limit) }

// A target is a file that counts the bytes that arrived through a Pipe.
type target struct {
	*os.File
	moved int
}

func (t *target) CanWritePipe() bool { return true }

func (t *target) WritePipe(p *splice.Pipe, n int) (int, error) {
	n, err := p.Drain(t.File, n)
	t.moved += n
	return n, err
}

// TestCopy copies a body from a socket to several kinds of files. An appended
// file does not support splice.
func TestCopy(t *testing.T) {
	body := make([]byte, 3<<20+1)
	rand.NewChaCha8([32]byte{}).Read(body)
	for _, c := range []struct {
		name   string
		flag   int
		before string
		plain  int
	}{
		{name: "new file"},
		{name: "file with content", before: "before "},
		{name: "appended file", flag: os.O_APPEND, before: "before "},
		{name: "first bytes in a buffer", plain: 1000},
		{name: "all bytes in a buffer", plain: len(body) + 1},
		{name: "most bytes in a buffer", plain: len(body) - 1<<20},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "file")
			f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|c.flag, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(c.before); err != nil {
				t.Fatal(err)
			}
			near := serve(t, body)
			out := &target{File: f}
			n, err := splice.Copy(out, &source{near, c.plain}, make([]byte, 32<<10))
			if n != int64(len(body)) || err != nil {
				t.Errorf("copied %d bytes, %v, want %d", n, err, len(body))
			}
			got, err := os.ReadFile(name)
			if err != nil || string(got) != c.before+string(body) {
				t.Errorf("got %d bytes, %v", len(got), err)
			}
			// The bytes before the pipe is opened fill at most one more buffer.
			least := len(body) - max(c.plain, 128<<10) - 32<<10
			if splice.CanFill(near) && (out.moved < least || out.moved > max(len(body)-c.plain, 0)) {
				t.Errorf("%d bytes arrived through the pipe, want at least %d", out.moved, least)
			}
		})
	}
}

// TestCopyErrors checks the errors of a closed file and of a closed connection.
func TestCopyErrors(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Repeat([]byte("x"), 1<<20)
	near := serve(t, body)
	near.Close()
	if n, err := splice.Copy(&target{File: f}, &source{Conn: near}, make([]byte, 128<<10)); n != 0 || err == nil {
		t.Errorf("from a closed connection: %d bytes, %v", n, err)
	}
	f.Close()
	if n, err := splice.Copy(&target{File: f}, &source{Conn: serve(t, body)}, make([]byte, 128<<10)); n != 0 || err == nil {
		t.Errorf("to a closed file: %d bytes, %v", n, err)
	}
}

// serve returns a connection on which a server sends body.
func serve(t *testing.T, body []byte) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer far.Close()
		io.Copy(far, bytes.NewReader(body))
	}()
	t.Cleanup(func() {
		near.Close()
		<-done
	})
	return near
}
