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

	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

func readText(in io.Reader, strict bool) (out string, notes int, err error) {
	r := newText(bufio.NewReaderSize(in, sessions.SingleBuffer), strict, func(string, ...any) { notes++ })
	b, err := io.ReadAll(r)
	return string(b), notes, err
}

// TestText checks how the lines of a text determine the rule for leading dots.
func TestText(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		complete       bool
	}{
		{"empty text", "", "", false},
		{"no dots", "a\r\nb\r\n", "a\r\nb\r\n", false},
		{`"." line only`, ".\r\n", "", true},
		{`text with the "." line`, "a\r\n.\r\n", "a\r\n", true},
		{`"." line with LF`, "a\n.\n", "a\n", true},
		{`"." line without a line end`, "a\r\n.", "a\r\n", true},
		{`"." line with CR only`, "a\r\n.\r", "a\r\n", true},
		{"last line of a dot and a space", "a\r\n. \r\n", "a\r\n. \r\n", false},
		{"last line without a line end", "a\r\nb", "a\r\nb", false},
		{`UMN gopherd: encoded "." line and an unchanged ".b" line`, "a\r\n.b\r\n..\r\nc\r\n.\r\n", "a\r\n.b\r\n.\r\nc\r\n", true},
		{`RFC 1436: encoded ".b" and ".." lines`, "..b\r\n...\r\n.\r\n", ".b\r\n..\r\n", true},
		{"gophernicus: unchanged text", "a\r\n..b\r\n..\r\n", "a\r\n..b\r\n..\r\n", false},
		{`"." line in the middle of unchanged text`, "a\r\n.\r\nb\r\n", "a\r\n.\r\nb\r\n", false},
		{`two "." lines at the end`, "a\r\n.\r\n.\r\n", "a\r\n.\r\n", true},
		{`"." line in the middle of buffered text`, "..a\r\n..\r\n.\r\nb\r\n..\r\n..c\r\n.\r\n", "..a\r\n..\r\n.\r\nb\r\n..\r\n..c\r\n", true},
		{`UMN gopherd: encoded "." line and an unchanged "..two" line`, ".a\r\n..two\r\n..\r\n...\r\n.\r\n", ".a\r\n..two\r\n.\r\n...\r\n", true},
		{`UMN gopherd: ".a" line after the undecided lines`, "..two\r\n..\r\n...\r\n..\r\n.a\r\n..b\r\n.\r\n", "..two\r\n.\r\n...\r\n.\r\n.a\r\n..b\r\n", true},
		{`UMN gopherd: no ".." lines`, "..two\r\nb\r\n.a\r\n...\r\n.\r\n", "..two\r\nb\r\n.a\r\n...\r\n", true},
		{`UMN gopherd: no final "." line`, "..two\r\n..\r\n.a\r\n..\r\n", "..two\r\n..\r\n.a\r\n..\r\n", false},
		{`".a" line and a "." line in the middle`, "..two\r\n..\r\n.a\r\n..\r\n.\r\n..\r\n.\r\n", "..two\r\n..\r\n.a\r\n..\r\n.\r\n..\r\n", true},
		{"lines of two dots and a space or CR", ".a\r\n.. \r\n..\rb\r\n.\r\n", ".a\r\n.. \r\n..\rb\r\n", true},
		{"LF as line ends", ".a\n..two\n..\n.\n", ".a\n..two\n.\n", true},
		{`"." line in the middle and no final "." line`, "..a\r\n.\r\nb\r\n", "..a\r\n.\r\nb\r\n", false},
		{"dots inside a line", "a..b\r\n.\r\n", "a..b\r\n", true},
		{`".." as the first line`, "..\r\n.\r\n", ".\r\n", true},
		{`".." as the last line without a line end`, "..", "..", false},
		{"CR inside a line", "a\r.\r\n.\r\n", "a\r.\r\n", true},
	} {
		for _, oneByte := range []bool{false, true} {
			for _, strict := range []bool{false, true} {
				in := io.Reader(strings.NewReader(c.in))
				if oneByte {
					in = iotest.OneByteReader(in)
				}
				got, notes, err := readText(in, strict)
				if got != c.want {
					t.Errorf("%s: %q: got %q, want %q", c.name, c.in, got, c.want)
				}
				if truncated := errors.Is(err, fetch.Truncated); truncated != (strict && !c.complete) || !truncated && err != nil || (notes > 0) != (!strict && !c.complete) {
					t.Errorf("%s: strict %v: got error %v and %d notes", c.name, strict, err, notes)
				}
			}
		}
	}
}

// TestTextLong checks that the buffer is bounded and that longer text is
// returned unchanged.
func TestTextLong(t *testing.T) {
	if testing.Short() {
		t.Skip("reads long texts")
	}
	long := strings.Repeat("0123456789abcde\n", maxHeld/16)
	for _, c := range []struct{ name, in, want string }{
		{"text without dots", long + long + ".\r\n", long + long},
		{"buffered text", "..a\n" + long[:1<<20] + ".\r\n", ".a\n" + long[:1<<20]},
		{"undecided text longer than the buffer", "..a\n" + long + "..b\n.\r\n", "..a\n" + long + "..b\n.\r\n"},
		{`long text decided by an earlier ".b" line`, "..a\n.b\n" + long + "..b\n.\n", "..a\n.b\n" + long + "..b\n"},
		{`long text decided by an earlier "." line`, "..a\n..\n.\n" + long + "..\n.\n", "..a\n..\n.\n" + long + "..\n"},
		{`long text after a ".." line`, "..a\n..\n.b\n" + long + ".\n", "..a\n..\n.b\n" + long + ".\n"},
	} {
		if got, _, err := readText(strings.NewReader(c.in), true); got != c.want || err != nil {
			t.Errorf("%s: got %d bytes, %v, want %d", c.name, len(got), err, len(c.want))
		}
	}
}

// TestTextFlows checks that decided text is returned immediately.
func TestTextFlows(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	r := newText(bufio.NewReaderSize(in, sessions.SingleBuffer), false, func(string, ...any) {})
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

func TestDotBlock(t *testing.T) {
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
		for _, oneByte := range []bool{false, true} {
			in := io.Reader(strings.NewReader(c.in))
			if oneByte {
				in = iotest.OneByteReader(in)
			}
			r := bufio.NewReaderSize(in, sessions.SingleBuffer)
			b := newDotBlock(r)
			got, err := io.ReadAll(b)
			b.dots.next() // discards the last line
			rest, _ := r.Peek(len(c.rest))
			if string(got) != c.want || err != c.err {
				t.Errorf("%q: got %q, %v, want %q, %v", c.in, got, err, c.want, c.err)
			}
			if err == nil && string(rest) != c.rest {
				t.Errorf("%q: got %q after the data", c.in, rest)
			}
		}
	}
}

func TestMenuEnd(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, ".": true, ".\r\n": true, ".\n": true, "1a\t\th\t70\r\n.\r\n": true, "1a\t\th\t70\n.\n": true,
		"a.\r\n": false, "..\r\n": false, "a\r\n.x\r\n": false, "a\r\n.\r\n\r\n": false,
	} {
		for _, oneByte := range []bool{false, true} {
			src := io.Reader(strings.NewReader(in))
			if oneByte {
				src = iotest.OneByteReader(src)
			}
			got, err := io.ReadAll(&menuReader{r: src, strict: true})
			if string(got) != in || (err == nil) != want || err != nil && !errors.Is(err, fetch.Truncated) {
				t.Errorf("%q: got %q, %v, want a complete menu: %v", in, got, err, want)
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
		{strings.Repeat("x", sessions.SingleBuffer-1) + "é", "; charset=utf-8"}, // split at the end of the buffer
		{strings.Repeat("x", sessions.SingleBuffer-3) + "éé", "; charset=utf-8"},
	} {
		r := bufio.NewReaderSize(strings.NewReader(c.in), sessions.SingleBuffer)
		r.Peek(1)
		if got := media.Charset(r); got != c.want {
			t.Errorf("%.20q: got %q, want %q", c.in, got, c.want)
		}
		r = bufio.NewReaderSize(iotest.OneByteReader(strings.NewReader(c.in)), sessions.SingleBuffer)
		r.Peek(1)
		if got := media.Charset(r); got != "" && got != c.want {
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
				r := newText(bufio.NewReaderSize(strings.NewReader(text), sessions.SingleBuffer), true, nil)
				if _, err := io.Copy(io.Discard, struct{ io.Reader }{r}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzGopherText compares textReader with a decoder that has the complete text.
func FuzzGopherText(f *testing.F) {
	for _, s := range []string{
		"..two\r\n..\r\n.a\r\n..b\r\n.\r\n", "..a\n.\nb\n..\n.\n", ".\r\n", "..", ".\r", "..\r", "a\r\n.\r\n.", ".a\n...\n..\r\r\n.\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, wire string) {
		want, complete := unstuffed(wire)
		for _, in := range []io.Reader{strings.NewReader(wire), iotest.OneByteReader(strings.NewReader(wire)), iotest.HalfReader(strings.NewReader(wire))} {
			got, _, err := readText(in, true)
			if got != want || (err == nil) != complete {
				t.Fatalf("%q: got %q, %v, want %q, %v", wire, got, err, want, complete)
			}
		}
	})
}

// unstuffed returns the decoded text of wire, and reports whether wire ends
// with a "." line.
func unstuffed(wire string) (text string, complete bool) {
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
