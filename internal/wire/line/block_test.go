package line

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestBlock(t *testing.T) {
	for _, test := range []struct {
		name, in, want string
		err            error
	}{
		{"empty", ".\r\n", "", nil},
		{"lines", "a\r\nb\r\n.\r\n", "a\r\nb\r\n", nil},
		{"empty lines", "\r\n\r\n.\r\n", "\r\n\r\n", nil},
		{"doubled dots", "..\r\n...\r\n..a.\r\n.\r\n", ".\r\n..\r\n.a.\r\n", nil},
		{"dot that the server did not double", ".a\r\n.\r\n", ".a\r\n", nil},
		{"server that does not double dots", "..a\r\n.b\r\n..c\r\n..\r\n.\r\n", ".a\r\n.b\r\n..c\r\n..\r\n", nil},
		{"dots inside lines", "a.\r\n.. .\r\n.\r\n", "a.\r\n. .\r\n", nil},
		{"bare LF", "a\n..b\n.\n", "a\n.b\n", nil},
		{"one LF among CRLF", "a\r\nb\nc\r\n.\r\n", "a\r\nb\nc\r\n", nil},
		{"bare LF after the dot", "a\r\n.\n", "a\r\n", nil},
		{"empty line with bare LF", "\n.\r\n", "\n", nil},
		{"CR without LF", "a\r.\r\n.\r\n", "a\r.\r\n", nil},
		{"CR CR LF after the dot", ".\r\r\n.\r\n", ".\r\r\n", nil},
		{"CR and another byte after the dot", ".\ra\r\n.\r\n", ".\ra\r\n", nil},
		{"NUL and bytes above 127", "\x00\xff\r\n.\r\n", "\x00\xff\r\n", nil},
		{"truncated before the first byte", "", "", io.ErrUnexpectedEOF},
		{"truncated between lines", "a\r\n", "a\r\n", io.ErrUnexpectedEOF},
		{"truncated inside a line", "a\r\nb", "a\r\nb", io.ErrUnexpectedEOF},
		{"truncated after the dot", "a\r\n.", "a\r\n", io.ErrUnexpectedEOF},
		{"truncated after the dot and CR", "a\r\n.\r", "a\r\n", io.ErrUnexpectedEOF},
		{"dot at the end of a line", "a.\r\n", "a.\r\n", io.ErrUnexpectedEOF},
	} {
		for _, source := range sources {
			t.Run(test.name+"/"+source.name, func(t *testing.T) {
				rest := ""
				if test.err == nil {
					rest = "200 next"
				}
				r := NewReader(source.of(test.in + rest))
				got, err := io.ReadAll(iotest.HalfReader(r.Block(0)))
				if string(got) != test.want || err != test.err {
					t.Errorf("%q: got %q, %v, want %q, %v", test.in, got, err, test.want, test.err)
				}
				if behind, _ := io.ReadAll(r); err == nil && string(behind) != rest {
					t.Errorf("%q: %q follows the block, want %q", test.in, behind, rest)
				}
			})
		}
	}
}

func TestBlockLineLimit(t *testing.T) {
	for _, test := range []struct {
		name, in string
		err      error
	}{
		{"line of the maximum length", "abcd\r\n.\r\n", nil},
		{"bare LF", "abcd\n.\r\n", nil},
		{"doubled dot in a line of the maximum length", "..abc\r\n.\r\n", nil},
		{"one byte too long", "a\r\nabcde\r\n.\r\n", ErrTooLong},
		{"bare LF, one byte too long", "abcde\n.\r\n", ErrTooLong},
		{"one CR too long", "abcd\r\r\n.\r\n", ErrTooLong},
		{"no line ending", "abcdef", ErrTooLong},
	} {
		for _, source := range sources {
			if _, err := io.ReadAll(NewReader(source.of(test.in)).Block(4)); err != test.err {
				t.Errorf("%s, %s: got %v, want %v", test.name, source.name, err, test.err)
			}
		}
	}
}

func TestBlockReader(t *testing.T) {
	text := strings.Repeat("a line\r\n.\r\n\r\n..\r\nanother\n", 40)
	in := dotStuff(text)
	if err := iotest.TestReader(NewReader(strings.NewReader(in)).Block(0), []byte(text)); err != nil {
		t.Error(err)
	}
}

// dotStuff encodes complete lines as a dot-terminated block.
func dotStuff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line[0] == '.' {
			b.WriteByte('.')
		}
		b.WriteString(line)
	}
	return b.String() + ".\r\n"
}

// TestBlockEndlessLine reads a line of 1 GiB with a buffer of 32 KiB.
func TestBlockEndlessLine(t *testing.T) {
	const size = 1 << 30
	r := NewReader(io.MultiReader(io.LimitReader(readerFunc(func(p []byte) (int, error) {
		return len(p), nil
	}), size), strings.NewReader("\r\n.\r\n")))
	used := heap(func() {
		n, err := io.Copy(io.Discard, r.Block(0))
		if n != size+2 || err != nil {
			t.Errorf("got %d bytes, %v", n, err)
		}
	})
	if used > 1<<20 || len(r.buf) != bufferSize {
		t.Errorf("%d bytes of memory, a buffer of %d", used, len(r.buf))
	}
}

func BenchmarkBlock(b *testing.B) {
	for _, bench := range []struct{ name, line string }{
		{"70 bytes a line", strings.Repeat("x", 68) + "\r\n"},
		{"130 bytes a line", strings.Repeat("x", 128) + "\r\n"},
		{"10 bytes a line", strings.Repeat("x", 8) + "\r\n"},
		{"every line with a dot", "." + strings.Repeat("x", 67) + "\r\n"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			in := []byte(dotStuff(strings.Repeat(bench.line, 4<<20/len(bench.line))))
			out := make([]byte, 32<<10)
			b.SetBytes(int64(len(in)))
			b.ReportAllocs()
			src := bytes.NewReader(nil)
			for b.Loop() {
				src.Reset(in)
				if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, NewReader(src).Block(0), out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
