package textform

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

func TestUTF8(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"ASCII", "a~", "a~"},
		{"UTF-8", "é€", "é€"},
		{"ISO 8859-1", "caf\xe9 \x80\xff", "caf\u00e9 \u0080\u00ff"},
		{"truncated UTF-8", "é\xc3", "Ã©Ã"},
	} {
		if got := UTF8(c.in); got != c.want || UTF8([]byte(c.in)) != got || string(UTF8Bytes([]byte(c.in))) != got {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func FuzzUTF8(f *testing.F) {
	f.Add("caf\xe9")
	f.Fuzz(func(t *testing.T, s string) {
		if got := UTF8(s); !utf8.ValidString(got) || len(got) > 2*len(s) || utf8.ValidString(s) && got != s {
			t.Errorf("%q: %q", s, got)
		}
	})
}

func TestHasControl(t *testing.T) {
	for c := range rune(0x100) {
		if got, want := HasControl("a"+string(c)+"b"), c < ' ' || c == 0x7f; got != want {
			t.Errorf("%q: %v", c, got)
		}
	}
}

func TestExcerpt(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"short", "a\x1bb", `a\x1bb`},
		{"the longest text", strings.Repeat("x", 300), strings.Repeat("x", 300)},
		{"long", strings.Repeat("x", 1<<20), strings.Repeat("x", 300) + "…"},
		{"a character at the end", strings.Repeat("x", 298) + "€uro", strings.Repeat("x", 298) + "…"},
		{"no UTF-8", strings.Repeat("x", 200) + strings.Repeat("\x80", 200), ""},
	} {
		got := Excerpt(c.in)
		if c.want != "" && got != c.want || len(got) > 4*300+len("…") || strings.ContainsAny(got, "\x1b\x80") {
			t.Errorf("%s: got %q", c.name, got)
		}
	}
}

func TestLines(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name string
		r    io.Reader
		want string
	}{
		{"empty", strings.NewReader(""), ""},
		{"LF and CR LF", strings.NewReader("a\nb\r\n\r\nc\r\n"), "a|b||c|"},
		{"no line end", strings.NewReader("a\nb"), "a|b|"},
		{"the longest line", strings.NewReader("1234\n5678\n"), "1234|5678|"},
		{"a line too long", strings.NewReader("a\n12345\nb\n"), "a|error: line longer than 4 bytes"},
		{"an error", io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(failed)), "a|error: failed"},
	} {
		got := ""
		for text, err := range Lines(c.r, 4) {
			if err != nil {
				got += fmt.Sprintf("error: %v", err)
				continue
			}
			got += string(text) + "|"
		}
		if got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
	for range Lines(strings.NewReader("a\nb\n"), 4) {
		break
	}
}
