package telnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// A wire is a connection with fixed input that records its output.
type wire struct {
	net.Conn
	in   []byte
	step int // maximum length of a Read
	out  []byte
}

func (w *wire) Read(p []byte) (int, error) {
	if len(w.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, w.in[:min(w.step, len(w.in))])
	w.in = w.in[n:]
	return n, nil
}

func (w *wire) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

func (*wire) SetReadDeadline(time.Time) error  { return nil }
func (*wire) SetWriteDeadline(time.Time) error { return nil }

// drain reads g to EOF. It fails if the data exceed n bytes.
func drain(t *testing.T, g *optionConn, n int) []byte {
	t.Helper()
	text, err := io.ReadAll(g)
	if err != nil || len(text) > 2*n {
		t.Fatalf("got %d bytes, want at most %d, %v", len(text), n, err)
	}
	return text
}

func TestGuardRead(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"CR NUL", "a\r\x00b\r\nc\r\r\x00\x00d", "a\rb\r\nc\r\r\x00d"},
		{"CR NUL with a command in between", "a\r\xff\xf1\x00b", "a\rb"},
		{"CR NUL in binary mode", "\xff\xfb\x00a\r\x00b", "a\r\x00b"},
		{"doubled IAC", "a\xff\xffb", "a\xff\xffb"},
		{"CR at the end", "a\r", "a\r"},
	} {
		for _, step := range []int{1, 2, 100} {
			g := &optionConn{Conn: &wire{in: []byte(test.in), step: step}, options: testOptions()}
			if got := drain(t, g, 100); string(got) != test.want {
				t.Errorf("%s, reads of %d bytes: got %q, want %q", test.name, step, got, test.want)
			}
		}
	}
}

const echoes, goesAhead = "\xff\xfb\x01", "\xff\xfb\x03"

// TestMode checks that each change of the input mode is reported once.
func TestMode(t *testing.T) {
	for in, want := range map[string][]Mode{
		"":                             {Lines},
		"hello" + goesAhead:            {Lines},
		echoes + "Password: ":          {Lines, HiddenLines},
		echoes + goesAhead + echoes:    {Lines, HiddenLines, Keys},
		echoes + "\xff\xfc\x01" + "$ ": {Lines, HiddenLines, Lines},
		"\xff\xfb\x05\xff\xfd\x01":     {Lines},
	} {
		var got []Mode
		g := &optionConn{Conn: &wire{in: []byte(in), step: 3}, options: testOptions(), mode: func(m Mode) { got = append(got, m) }}
		g.reportMode()
		if drain(t, g, 100); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", in, got, want)
		}
	}
}

func TestSend(t *testing.T) {
	long := bytes.Repeat([]byte("\xff\xe9\r"), 5000)
	for _, test := range []struct {
		name     string
		keyboard bool
		start    string // data from the server
		texts    []string
		want     string
	}{
		{"bytes without special meaning", false, "", []string{"caf\xe9 \xc3\xa9\x00\r\n\n\r"}, "caf\xe9 \xc3\xa9\x00\r\n\n\r"},
		{"bytes 0xff", false, "", []string{"\xff", "a\xff\xff"}, "\xff\xffa\xff\xff\xff\xff"},
		{"Enter in Lines mode", true, "", []string{"ls\n", "a\r\nb\rc"}, "ls\r\na\r\nb\r\nc"},
		{"Enter in HiddenLines mode", true, echoes, []string{"ls\n"}, "\xff\xfd\x01ls\r\n"},
		{"Enter in Keys mode", true, echoes + goesAhead, []string{"ls\r", "a\r\nb\rc\n"}, "\xff\xfd\x01\xff\xfd\x03ls\r\x00a\r\nb\r\x00c\n"},
		{"Enter in binary mode", true, "\xff\xfd\x00", []string{"ls\r", "\n"}, "\xff\xfb\x00ls\r\n"},
		{"CR LF in two writes", true, "", []string{"ls\r", "\n"}, "ls\r\n\n"},
		{"data longer than a chunk", false, "", []string{string(long)}, string(bytes.ReplaceAll(long, []byte("\xff"), []byte("\xff\xff")))},
		{"Enter at the end of a chunk", true, echoes + goesAhead, []string{string(bytes.Repeat([]byte("a"), 4095)) + "\r\nb"}, "\xff\xfd\x01\xff\xfd\x03" + string(bytes.Repeat([]byte("a"), 4095)) + "\r\nb"},
	} {
		w := &wire{in: []byte(test.start), step: 100}
		g := &optionConn{Conn: w, options: testOptions()}
		if test.keyboard {
			g.mode = func(Mode) {}
		}
		drain(t, g, 100)
		for _, text := range test.texts {
			if n, err := g.send([]byte(text)); n != len(text) || err != nil {
				t.Errorf("%s: wrote %d bytes, %v", test.name, n, err)
			}
		}
		if string(w.out) != test.want {
			t.Errorf("%s: got %q, want %q", test.name, w.out, test.want)
		}
	}
	g := &optionConn{Conn: failing{new(wire)}, options: testOptions()}
	if n, err := g.send([]byte("x")); n != 0 || err == nil {
		t.Errorf("failing connection: wrote %d, %v", n, err)
	}
}

type failing struct{ *wire }

func (failing) Write([]byte) (int, error)        { return 0, errors.New("broken") }
func (failing) SetWriteDeadline(time.Time) error { return nil }
