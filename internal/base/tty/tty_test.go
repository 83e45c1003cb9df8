package tty

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", `motd.txt`, `motd.txt`},
		{"letters of the world", "héllo мир 世界 🏠", "héllo мир 世界 🏠"},
		{"backslash", `a\x1b`, `a\x1b`},
		{"window title", "500 \x1b]0;x\x07", `500 \x1b]0;x\x07`},
		{"newline in a name", "a\nb", `a\x0ab`},
		{"TAB and CR", "a\tb\r", `a\x09b\x0d`},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`},
		{"C1 as one byte", "\x9b31m", `\x9b31m`},
		{"C1 as UTF-8", "\u009b31m", `\u{9b}31m`},
		{"next line", "\u0085", `\u{85}`},
		{"no-break space is seen", "a\u00a0b", "a\u00a0b"},
		{"Latin-1", "caf\xe9", `caf\xe9`},
		{"overlong slash", "\xc0\xaf", `\xc0\xaf`},
		{"surrogate", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"cut rune", "a\xe2\x82", `a\xe2\x82`},
		{"real replacement character", "\ufffd", "\ufffd"},
		{"right to left override", "txt.\u202eexe", `txt.\u{202e}exe`},
		{"all embeddings", "\u202a\u202b\u202c\u202d\u202e", `\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}`},
		{"isolates", "\u2066\u2067\u2068\u2069", `\u{2066}\u{2067}\u{2068}\u{2069}`},
		{"zero width and marks", "\u200b\u200c\u200d\u200e\u200f", `\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}`},
		{"Arabic letter mark", "\u061c", `\u{61c}`},
		{"line and paragraph separator", "\u2028\u2029", `\u{2028}\u{2029}`},
		{"neighbours of the above", "\u061b\u061d\u200a\u2010\u2027\u202f\u205f\u2070", "\u061b\u061d\u200a\u2010\u2027\u202f\u205f\u2070"},
		{"byte order mark", "a\ufeffb", `a\u{feff}b`},
		{"tags", "a\U000e0041\U000e007f", `a\u{e0041}\u{e007f}`},
		{"variation selectors", "a\ufe0f\U000e0100", `a\u{fe0f}\u{e0100}`},
		{"soft hyphen and word joiner", "a\u00ad\u2060", `a\u{ad}\u{2060}`},
		{"Hangul fillers", "\u115f\u3164\uffa0", `\u{115f}\u{3164}\u{ffa0}`},
		{"visible Arabic number sign", "\u0600\u06dd", "\u0600\u06dd"},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("%s: Escape(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

// TestIgnorable compares isIgnorable with the Unicode property.
func TestIgnorable(t *testing.T) {
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Zl, unicode.Zp) &&
			!unicode.Is(unicode.Prepended_Concatenation_Mark, r) && // these marks are visible
			(r < 0x13430 || r > 0x1345f) // Egyptian hieroglyph controls are visible
		if got := isIgnorable(r); got != want {
			t.Errorf("U+%04X: got %v, want %v", r, got, want)
		}
	}
}

// TestJSON verifies that the escaped JSON has the same value and contains no
// control characters.
func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "{}\n", "{}\n"},
		{"letters of the world", "é\t世界", `"é\t世界"`},
		{"C0 and DEL", "\x1b[31m\x7f", `"\u001b[31m\u007f"`},
		{"C1", "\u009b31m", `"\u009b31m"`},
		{"not UTF-8", "a\x9bb", `"a\ufffdb"`},
		{"override", "txt.\u202eexe", `"txt.\u202eexe"`},
		{"separator", "\u2028", `"\u2028"`},
		{"tag outside the BMP", "a\U000e0041", `"a\udb40\udc41"`},
	} {
		in := []byte(c.in)
		if c.want != c.in {
			in, _ = json.Marshal(c.in)
		}
		got := JSON(in)
		if string(got) != c.want || Escape(strings.TrimSpace(string(got))) != strings.TrimSpace(string(got)) {
			t.Errorf("%s: JSON(%s) = %s, want %s", c.name, in, got, c.want)
		}
		var before, after any
		if json.Unmarshal(in, &before); json.Unmarshal(got, &after) != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: %q becomes %q", c.name, before, after)
		}
	}
}

func TestEscapeCleanTextNoAllocations(t *testing.T) {
	const s = "a clean line, with é and 世界, long enough to matter"
	if n := testing.AllocsPerRun(100, func() { Escape(s) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestWriter(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"lines and columns", "a\tb\nc\n", "a\tb\nc\n"},
		{"CR LF", "a\r\nb\r\n", "a\nb\n"},
		{"CR alone overwrites the line", "safe\revil\n", "safe\\x0devil\n"},
		{"CR CR LF", "a\r\r\n", "a\\x0d\n"},
		{"CR at the end", "a\r", `a\x0d`},
		{"colour", "\x1b[31mred\x1b[0m\n", "\\x1b[31mred\\x1b[0m\n"},
		{"C1, two spellings", "\x9b \u009b", `\x9b \u{9b}`},
		{"text of three-byte runes", "世界\n", "世界\n"},
		{"rune that never ends", "a\xf0\x9f\x8f", `a\xf0\x9f\x8f`},
		{"continuation bytes only", "\x80\x80\x80\x80\x80", `\x80\x80\x80\x80\x80`},
		{"override", "a\u202eb\n", "a\\u{202e}b\n"},
	} {
		for _, cut := range []func(io.Reader) io.Reader{unchangedReader, iotest.OneByteReader, iotest.HalfReader} {
			if got := writeThrough(t, cut(strings.NewReader(c.in))); got != c.want {
				t.Errorf("%s: %q is written as %q, want %q", c.name, c.in, got, c.want)
			}
		}
	}
}

func unchangedReader(r io.Reader) io.Reader { return r }

func writeThrough(t *testing.T, r io.Reader) string {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWriterByteCount(t *testing.T) {
	disk := errors.New("disk")
	w := NewWriter(io.Discard)
	if n, err := w.Write(make([]byte, 3*chunk)); n != 3*chunk || err != nil {
		t.Errorf("long Write = %d, %v", n, err)
	}
	w = NewWriter(failing{disk})
	if n, err := w.Write([]byte("abc")); n != 0 || err != disk {
		t.Errorf("Write to a failing writer = %d, %v", n, err)
	}
	if n, err := w.Write([]byte("abc")); n != 0 || err != disk {
		t.Errorf("Write after the error = %d, %v", n, err)
	}
	if err := w.Flush(); err != disk {
		t.Errorf("Flush after the error = %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWriterMemory(t *testing.T) {
	w := NewWriter(io.Discard)
	p := bytes.Repeat([]byte("\x1b\u202e\x9b"), 1<<16)
	w.Write(p)
	if c := cap(w.in) + cap(w.out); c > 64<<10 {
		t.Errorf("the buffer has %d bytes", c)
	}
}

func TestIsText(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", true},
		{"ASCII", "Welcome to the archive\r\n", true},
		{"UTF-8", "Здравствуй, мир\n", true},
		{"rune cut by the end of the prefix", "世\xe7\x95", true},
		{"Latin-1", "un caf\xe9 tr\xe8s fort\n", true},
		{"KOI8-R", "\xfa\xc4\xd2\xc1\xd7\xd3\xd4\xd7\xd5\xca", false},
		{"ANSI art", "\x1b[31mred\x1b[0m\f\n", true},
		{"overstruck manual page", "N\bNA\bAM\bME\bE\n", true},
		{"NUL", "text\x00", false},
		{"UTF-16", "\xff\xfea\x00b\x00", false},
		{"gzip", "\x1f\x8b\x08\x08abcdefghijklmnop", false},
		{"PNG", "\x89PNG\r\n\x1a\n", false},
		{"JPEG", "\xff\xd8\xff\xe0", false},
		{"ELF", "\x7fELF\x02\x01\x01", false},
	} {
		if got := IsText([]byte(c.in)); got != c.want {
			t.Errorf("%s: IsText(%q) = %v, want %v", c.name, c.in, got, c.want)
		}
	}
}

// checkSafe fails the test if s could affect a terminal.
func checkSafe(t *testing.T, s, keep string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("not UTF-8: %q", s)
	}
	for _, r := range s {
		if isHidden(r, utf8.RuneLen(r)) && !strings.ContainsRune(keep, r) {
			t.Fatalf("%U in %q", r, s)
		}
	}
}

func FuzzTTYEscape(f *testing.F) {
	for _, s := range []string{"plain", "\x1b]0;x\x07", "\xc2\x9b", "a\r\nb", "\u202e\xe2\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Escape(s)
		checkSafe(t, once, "")
		if twice := Escape(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
		IsText([]byte(s))
	})
}

func FuzzTTYWriter(f *testing.F) {
	f.Add("a\r\nb\t\x1b[2J\xe4\xb8\x96", 3)
	f.Add("\r\r\n\xf0\x9f", 1)
	f.Fuzz(func(t *testing.T, s string, cut int) {
		cut = max(0, min(cut, len(s)))
		var out bytes.Buffer
		w := NewWriter(&out)
		io.WriteString(w, s[:cut])
		io.WriteString(w, s[cut:])
		w.Flush()
		got := out.String()
		checkSafe(t, got, lineControls)
		if want := escapeLines(s); got != want {
			t.Fatalf("%q cut at %d is written as %q, want %q", s, cut, got, want)
		}
	})
}

// escapeLines escapes s line by line with Escape.
func escapeLines(s string) string {
	rows := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, row := range rows {
		columns := strings.Split(row, "\t")
		for j := range columns {
			columns[j] = Escape(columns[j])
		}
		rows[i] = strings.Join(columns, "\t")
	}
	return strings.Join(rows, "\n")
}

func BenchmarkWriter(b *testing.B) {
	p := bytes.Repeat([]byte("an ordinary line of a document, of the usual length\r\n"), 1000)
	w := NewWriter(io.Discard)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		w.Write(p)
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"", 2, ""}, {"ab", 2, "ab"}, {"abc", 2, "ab…"}, {"мир", 2, "ми…"}, {"\xff\xfe\xfd", 2, "\xff\xfe…"}, {"a", 0, "…"},
	} {
		if got := Clip(c.in, c.limit); got != c.want {
			t.Errorf("%q, %d: got %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
