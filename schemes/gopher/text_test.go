package gopher

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
)

func readText(in io.Reader, strict bool) (out string, notes int, err error) {
	r := newText(bufio.NewReaderSize(in, bufferSize), strict, func(string, ...any) { notes++ })
	b, err := io.ReadAll(r)
	return string(b), notes, err
}

// TestText: the last line decides what dots mean.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		proved         bool
	}{
		{"nothing", "", "", false},
		{"no dots", "a\r\nb\r\n", "a\r\nb\r\n", false},
		{"the end alone", ".\r\n", "", true},
		{"the end", "a\r\n.\r\n", "a\r\n", true},
		{"the end with LF", "a\n.\n", "a\n", true},
		{"the end without its end", "a\r\n.", "a\r\n", true},
		{"the end with half of its end", "a\r\n.\r", "a\r\n", true},
		{"not the end: more in the line", "a\r\n. \r\n", "a\r\n. \r\n", false},
		{"no line end at the end", "a\r\nb", "a\r\nb", false},
		{"UMN gopherd: a line of one dot, stuffed, and a line of more", "a\r\n.b\r\n..\r\nc\r\n.\r\n", "a\r\n.b\r\n.\r\nc\r\n", true},
		{"RFC 1436: each line with a dot, stuffed", "..b\r\n...\r\n.\r\n", ".b\r\n..\r\n", true},
		{"gophernicus: as it is", "a\r\n..b\r\n..\r\n", "a\r\n..b\r\n..\r\n", false},
		{"a dot in the middle of what is as it is", "a\r\n.\r\nb\r\n", "a\r\n.\r\nb\r\n", false},
		{"the same, and dots at the end", "a\r\n.\r\n.\r\n", "a\r\n.\r\n", true},
		{"a dot in the middle of what is held back: nothing is stuffed", "..a\r\n..\r\n.\r\nb\r\n..\r\n..c\r\n.\r\n", "..a\r\n..\r\n.\r\nb\r\n..\r\n..c\r\n", true},
		{"UMN gopherd: a line of one dot, and two dots with more", ".a\r\n..two\r\n..\r\n...\r\n.\r\n", ".a\r\n..two\r\n.\r\n...\r\n", true},
		{"the same, and the proof comes later", "..two\r\n..\r\n...\r\n..\r\n.a\r\n..b\r\n.\r\n", "..two\r\n.\r\n...\r\n.\r\n.a\r\n..b\r\n", true},
		{"the same, and it has no lines of two dots", "..two\r\nb\r\n.a\r\n...\r\n.\r\n", "..two\r\nb\r\n.a\r\n...\r\n", true},
		{"the same without an end: as it is", "..two\r\n..\r\n.a\r\n..\r\n", "..two\r\n..\r\n.a\r\n..\r\n", false},
		{"both proofs", "..two\r\n..\r\n.a\r\n..\r\n.\r\n..\r\n.\r\n", "..two\r\n..\r\n.a\r\n..\r\n.\r\n..\r\n", true},
		{"two dots and a space are no line of two dots", ".a\r\n.. \r\n..\rb\r\n.\r\n", ".a\r\n.. \r\n..\rb\r\n", true},
		{"LF alone", ".a\n..two\n..\n.\n", ".a\n..two\n.\n", true},
		{"the same without an end", "..a\r\n.\r\nb\r\n", "..a\r\n.\r\nb\r\n", false},
		{"dots in a line", "a..b\r\n.\r\n", "a..b\r\n", true},
		{"dots at once", "..\r\n.\r\n", ".\r\n", true},
		{"dots at the end, no more", "..", "..", false},
		{"CR is no line end", "a\r.\r\n.\r\n", "a\r.\r\n", true},
	} {
		for _, one := range []bool{false, true} {
			for _, strict := range []bool{false, true} {
				in := io.Reader(strings.NewReader(c.in))
				if one {
					in = iotest.OneByteReader(in)
				}
				got, notes, err := readText(in, strict)
				if got != c.want {
					t.Errorf("%s: %q is %q, want %q", c.name, c.in, got, c.want)
				}
				if truncated := errors.Is(err, fetch.Truncated); truncated != (strict && !c.proved) || !truncated && err != nil || (notes > 0) != (!strict && !c.proved) {
					t.Errorf("%s: strict %v: %v and %d notes", c.name, strict, err, notes)
				}
			}
		}
	}
}

// TestTextLong: what is held back is bounded, and then all is as it was sent.
func TestTextLong(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", maxHeld/16)
	for _, c := range []struct{ name, in, want string }{
		{"flows without dots", long + long + ".\r\n", long + long},
		{"held back", "..a\n" + long[:1<<20] + ".\r\n", ".a\n" + long[:1<<20]},
		{"too long to be held back", "..a\n" + long + "..b\n.\r\n", "..a\n" + long + "..b\n.\r\n"},
		{"too long, but proved before", "..a\n.b\n" + long + "..b\n.\n", "..a\n.b\n" + long + "..b\n"},
		{"too long, and nothing was stuffed", "..a\n..\n.\n" + long + "..\n.\n", "..a\n..\n.\n" + long + "..\n"},
		{"too long behind a line of two dots", "..a\n..\n.b\n" + long + ".\n", "..a\n..\n.b\n" + long + ".\n"},
	} {
		if got, _, err := readText(strings.NewReader(c.in), true); got != c.want || err != nil {
			t.Errorf("%s: got %d bytes, %v, want %d", c.name, len(got), err, len(c.want))
		}
	}
}

// TestTextFlows: nothing waits that is not in doubt.
func TestTextFlows(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	r := newText(bufio.NewReaderSize(in, bufferSize), false, func(string, ...any) {})
	go func() {
		for _, s := range []string{"a\r\n", "b", ".\r\n.x", "\r\n..two"} {
			io.WriteString(out, s)
		}
	}()
	got := make([]byte, 16)
	if _, err := io.ReadFull(r, got); err != nil || string(got) != "a\r\nb.\r\n.x\r\n..two" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTextBroken(t *testing.T) {
	broken := errors.New("broken")
	for _, in := range []string{"a\r\n", "a\r\n.\r\n", "a\r\n.", "..a\r\n", "."} {
		got, _, err := readText(io.MultiReader(strings.NewReader(in), iotest.ErrReader(broken)), false)
		if err != broken || !strings.HasPrefix(in, got) {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
}

func TestBlock(t *testing.T) {
	for _, c := range []struct {
		in, want, rest string
		err            error
	}{
		{"a\r\n.\r\nrest", "a\r\n", "rest", nil},
		{".\r\n", "", "", nil},
		{".\n", "", "", nil},
		{"..\r\n.a\r\n..b\r\n...\r\n.\r\n", ".\r\n.a\r\n..b\r\n...\r\n", "", nil},
		{"..two\r\n..\n.\r\n", "..two\r\n.\n", "", nil},
		{"a\r\n.", "a\r\n", "", nil},
		{"a\r\n", "a\r\n", "", io.ErrUnexpectedEOF},
		{"", "", "", io.ErrUnexpectedEOF},
		{"a..\r\n.b", "a..\r\n.b", "", io.ErrUnexpectedEOF},
	} {
		for _, one := range []bool{false, true} {
			in := io.Reader(strings.NewReader(c.in))
			if one {
				in = iotest.OneByteReader(in)
			}
			r := bufio.NewReaderSize(in, bufferSize)
			b := newDotBlock(r)
			got, err := io.ReadAll(b)
			b.dots.next() // gives up the last line
			rest, _ := r.Peek(len(c.rest))
			if string(got) != c.want || err != c.err {
				t.Errorf("%q: got %q, %v, want %q, %v", c.in, got, err, c.want, c.err)
			}
			if err == nil && string(rest) != c.rest {
				t.Errorf("%q: leaves %q", c.in, rest)
			}
		}
	}
}

func TestMenuEnd(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, ".": true, ".\r\n": true, ".\n": true, "1a\t\th\t70\r\n.\r\n": true, "1a\t\th\t70\n.\n": true,
		"a.\r\n": false, "..\r\n": false, "a\r\n.x\r\n": false, "a\r\n.\r\n\r\n": false,
	} {
		for _, one := range []bool{false, true} {
			src := io.Reader(strings.NewReader(in))
			if one {
				src = iotest.OneByteReader(src)
			}
			got, err := io.ReadAll(&menuReader{r: src, strict: true})
			if string(got) != in || (err == nil) != want || err != nil && !errors.Is(err, fetch.Truncated) {
				t.Errorf("%q: got %q, %v, want the end proved: %v", in, got, err, want)
			}
		}
	}
}

func TestCharset(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain", ""}, {"", ""},
		{"Здравствуй", "; charset=utf-8"},
		{"un caf\xe9 noir", "; charset=iso-8859-1"},
		{"caf\xe9", "; charset=iso-8859-1"},
		{strings.Repeat("x", bufferSize-1) + "é", "; charset=utf-8"}, // cut by the bufferSize
		{strings.Repeat("x", bufferSize-3) + "éé", "; charset=utf-8"},
	} {
		r := bufio.NewReaderSize(strings.NewReader(c.in), bufferSize)
		r.Peek(1)
		if got := charset(r); got != c.want {
			t.Errorf("%.20q: got %q, want %q", c.in, got, c.want)
		}
		r = bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(c.in)), bufferSize)
		r.Peek(1)
		if got := charset(r); got != "" && got != c.want {
			t.Errorf("%.20q byte by byte: got %q", c.in, got)
		}
	}
}

func BenchmarkText(b *testing.B) {
	for _, c := range []struct{ name, line string }{{"plain", "an ordinary line of a text\r\n"}, {"dots", "..\r\n.dotted\r\n"}} {
		b.Run(c.name, func(b *testing.B) {
			text := strings.Repeat(c.line, 1<<20/len(c.line)) + ".\r\n"
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r := newText(bufio.NewReaderSize(strings.NewReader(text), bufferSize), true, nil)
				if _, err := io.Copy(io.Discard, struct{ io.Reader }{r}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzGopherText compares the reader with one that has all of the text.
func FuzzGopherText(f *testing.F) {
	for _, s := range []string{
		"..two\r\n..\r\n.a\r\n..b\r\n.\r\n", "..a\n.\nb\n..\n.\n", ".\r\n", "..", ".\r", "..\r", "a\r\n.\r\n.", ".a\n...\n..\r\r\n.\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		want, proved := unstuffed(wire)
		for _, in := range []io.Reader{strings.NewReader(wire), iotest.OneByteReader(strings.NewReader(wire)), iotest.HalfReader(strings.NewReader(wire))} {
			got, _, err := readText(in, true)
			if got != want || (err == nil) != proved {
				t.Fatalf("%q is %q, %v, want %q, %v", wire, got, err, want, proved)
			}
		}
	})
}

// unstuffed is the text that a server meant by wire.
func unstuffed(wire string) (text string, proved bool) {
	lines := slices.Collect(strings.Lines(wire))
	bare := func(line string) string { return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r") }
	if len(lines) == 0 || bare(lines[len(lines)-1]) != "." {
		return wire, false
	}
	lines = lines[:len(lines)-1]
	raw, umn := false, false
	for _, l := range lines {
		raw = raw || bare(l) == "."
		umn = umn || strings.HasPrefix(l, ".") && !strings.HasPrefix(l, "..") && bare(l) != "."
	}
	for i, l := range lines {
		if !raw && (bare(l) == ".." || !umn && strings.HasPrefix(l, "..")) {
			lines[i] = l[1:]
		}
	}
	return strings.Join(lines, ""), true
}
