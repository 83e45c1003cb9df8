package line

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/internal/test/cputime"
)

// sources are the ways in which a connection may split its input into reads.
var sources = []struct {
	name string
	of   func(string) io.Reader
}{
	{"at once", func(s string) io.Reader { return strings.NewReader(s) }},
	{"byte by byte", func(s string) io.Reader { return iotest.OneByteReader(strings.NewReader(s)) }},
	{"end with the last bytes", func(s string) io.Reader { return iotest.DataErrReader(strings.NewReader(s)) }},
	{"halves", func(s string) io.Reader { return iotest.HalfReader(strings.NewReader(s)) }},
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 10)
	for _, test := range []struct {
		name, in string
		want     []string // "text|end" for each line
		err      error
	}{
		{"nothing", "", nil, io.EOF},
		{"CRLF", "a\r\nb\r\n", []string{"a|CRLF", "b|CRLF"}, io.EOF},
		{"bare LF", "a\nb\n", []string{"a|LF", "b|LF"}, io.EOF},
		{"empty lines", "\r\n\n\r\n", []string{"|CRLF", "|LF", "|CRLF"}, io.EOF},
		{"CR inside is text", "a\rb\r\n", []string{"a\rb|CRLF"}, io.EOF},
		{"CR CR LF", "a\r\r\n", []string{"a\r|CRLF"}, io.EOF},
		{"NUL and bytes above 127 are text", "\x00\xff\r\n", []string{"\x00\xff|CRLF"}, io.EOF},
		{"cut", "a\r\nb", []string{"a|CRLF", "b|none"}, io.ErrUnexpectedEOF},
		{"cut after CR", "b\r", []string{"b\r|none"}, io.ErrUnexpectedEOF},
		{"line of the maximum length", long + "\r\n" + long + "\n", []string{long + "|CRLF", long + "|LF"}, io.EOF},
		{"as long as allowed, cut", long, []string{long + "|none"}, io.ErrUnexpectedEOF},
		{"one byte too long", "a\n" + long + "y\r\n", []string{"a|LF"}, ErrTooLong},
		{"one CR too long", long + "\r\r\n", nil, ErrTooLong},
		{"one CR too long, cut", long + "\r", nil, ErrTooLong},
		{"too long without an end", long + "yy", nil, ErrTooLong},
	} {
		for _, source := range sources {
			t.Run(test.name+"/"+source.name, func(t *testing.T) {
				r := NewReader(source.of(test.in))
				var got []string
				for {
					text, end, err := r.ReadLine(10)
					if err == nil || end == None && len(text) > 0 {
						got = append(got, string(text)+"|"+end.String())
					}
					if err == nil {
						continue
					}
					if err != test.err || strings.Join(got, ",") != strings.Join(test.want, ",") {
						t.Fatalf("%q: got %q, %v, want %q, %v", test.in, got, err, test.want, test.err)
					}
					return
				}
			})
		}
	}
}

func TestReadLineSourceFails(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\r\nb"), iotest.ErrReader(broken)))
	if text, _, err := r.ReadLine(10); string(text) != "a" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	for range 2 {
		if _, _, err := r.ReadLine(10); err != broken {
			t.Fatalf("got %v, want the error of the source", err)
		}
	}
}

func TestReadLineNoProgress(t *testing.T) {
	r := NewReader(readerFunc(func([]byte) (int, error) { return 0, nil }))
	if _, _, err := r.ReadLine(10); err != io.ErrNoProgress {
		t.Fatalf("got %v, want %v", err, io.ErrNoProgress)
	}
}

// TestReadRaw verifies that Read returns buffered bytes before it reads from
// the source.
func TestReadRaw(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("150 go\r\nab"), strings.NewReader("cd")))
	if _, _, err := r.ReadLine(10); err != nil {
		t.Fatal(err)
	}
	if n := r.Buffered(); n != 2 {
		t.Errorf("Buffered() = %d, want 2", n)
	}
	if rest, err := io.ReadAll(r); string(rest) != "abcd" || err != nil {
		t.Errorf("rest is %q, %v, want %q", rest, err, "abcd")
	}
}

// TestReadLineHostile verifies that a long line needs no memory beyond its
// limit and only linear time, for all sizes of reads.
func TestReadLineHostile(t *testing.T) {
	const limit = 1 << 20
	in := strings.Repeat("a\n", 1<<14) + strings.Repeat("x", limit) + "\r\n"
	r := NewReader(iotest.OneByteReader(strings.NewReader(in)))
	// A quadratic algorithm would take about 10^12 steps.
	cputime.Limit(t, 10*time.Second, func() {
		for {
			text, _, err := r.ReadLine(limit)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) == limit {
				break
			}
		}
	})
	if len(r.buf) > 4*limit {
		t.Errorf("buffer of %d bytes for a line of %d", len(r.buf), limit)
	}
}

func TestEndlessLine(t *testing.T) {
	read := 0
	r := NewReader(readerFunc(func(p []byte) (int, error) {
		read += len(p)
		return copy(p, bytes.Repeat([]byte("x"), len(p))), nil
	}))
	if _, err := r.ReadReply(); err != ErrTooLong {
		t.Errorf("got %v, want %v", err, ErrTooLong)
	}
	if read > 2*MaxReply {
		t.Errorf("%d bytes were read for a reply of at most %d", read, MaxReply)
	}
}

// heap returns the number of bytes that f allocates, including freed ones.
func heap(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
