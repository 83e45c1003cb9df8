package message

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// TestLine parses lines of dirsrv and malformed lines.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"link, with two blanks", "LINK  L FILE hello.txt INTERNET-D LOCALHOST(15250) ASCII AFTP'/pub/hello.txt' 0\n",
			[]string{"LINK", "L", "FILE", "hello.txt", "INTERNET-D", "LOCALHOST(15250)", "ASCII", "AFTP/pub/hello.txt", "0"}},
		{"quoted blank", "SIZE SEQUENCE 4096' bytes'\n", []string{"SIZE", "SEQUENCE", "4096 bytes"}},
		{"doubled quote", "it'''s a file.txt' x\n", []string{"it's a file.txt", "x"}},
		{"nothing but a doubled quote", "'''' x\n", []string{"'", "x"}},
		{"empty tokens", "X '' ''\n", []string{"X", "", ""}},
		{"line end in quotes", "a 'b\nc' d\ne\n", []string{"a", "b\nc", "d"}},
		{"NUL and all", "a '\x00\xff\r' b\n", []string{"a", "\x00\xff\r", "b"}},
		{"tabs", "\ta\t\tb \n", []string{"a", "b"}},
		{"several quoted parts", "a'b 'c'd '\n", []string{"ab cd "}},
		{"no end", "SUCCESS", []string{"SUCCESS"}},
		{"no end behind a quote", "'a b'", []string{"a b"}},
		{"empty lines before", "\n \n\na\n", []string{"a"}},
		{"carriage return is a character", "a\r\n", []string{"a\r"}},
	} {
		for _, src := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			l, err := NewReader(src).Line()
			if err != nil || !reflect.DeepEqual(l.Tokens, c.want) {
				t.Errorf("%s: got %q, %v, want %q", c.name, l.Tokens, err, c.want)
			}
		}
	}
}

func TestLineErrors(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want error
	}{
		"nothing": {"", io.EOF}, "empty lines": {"\n\n", io.EOF}, "open quote": {"a 'b\n", io.ErrUnexpectedEOF},
		"long token": {strings.Repeat("x", MaxLine+1), ErrTooLong}, "many tokens": {strings.Repeat("x ", MaxTokens+1) + "\n", ErrTooLong},
		"long quoted": {"'" + strings.Repeat("\n", MaxLine+1), ErrTooLong},
	} {
		if l, err := NewReader(strings.NewReader(c.in)).Line(); err != c.want {
			t.Errorf("%s: got %q, %v, want %v", name, l.Tokens, err, c.want)
		}
	}
	if _, err := NewReader(io.MultiReader(strings.NewReader("a 'b"), iotest.ErrReader(io.ErrClosedPipe))).Line(); err != io.ErrClosedPipe {
		t.Errorf("broken input: %v", err)
	}
}

func TestBegin(t *testing.T) {
	big := strings.Repeat("'it''s' '\n' \x00", 20000) // 240,000 bytes with everything in them
	in := "FIRST line\nATTRIBUTE x DATA '" + strings.ReplaceAll(big, "'", "''") + "' more\nLAST\n"
	for _, src := range []io.Reader{strings.NewReader(in), iotest.HalfReader(strings.NewReader(in))} {
		r := NewReader(src)
		if l, all, err := r.Begin(5); !all || err != nil || l.Raw != "FIRST line" {
			t.Fatalf("short line: %q, %v, %v", l, all, err)
		}
		if l, all, err := r.Begin(3); all || err != nil || l.Token(2) != "DATA" {
			t.Fatalf("begun: %q, %v, %v", l, all, err)
		}
		if got, err := io.ReadAll(r.Rest()); err != nil || string(got) != big {
			t.Fatalf("rest is %d bytes, %v, want %d", len(got), err, len(big))
		}
		if l, err := r.Line(); err != nil || l.Token(0) != "more" {
			t.Errorf("behind it: %q, %v", l.Tokens, err)
		}
		if l, err := r.Line(); err != nil || l.Token(0) != "LAST" || l.Token(1) != "" {
			t.Errorf("next line: %q, %v", l.Tokens, err)
		}
	}
	for in, want := range map[string]error{"a x": nil, "a 'x": io.ErrUnexpectedEOF, "a": io.ErrUnexpectedEOF, "a ": io.ErrUnexpectedEOF, "a ''": nil} {
		r := NewReader(strings.NewReader(in))
		r.Begin(1)
		if _, err := io.ReadAll(r.Rest()); err != want {
			t.Errorf("rest of %q: got %v, want %v", in, err, want)
		}
	}
}

func TestAppendLine(t *testing.T) {
	for _, c := range []struct {
		tokens []string
		want   string
	}{
		{[]string{"DIRECTORY", "ASCII", "AFTP/pub"}, "DIRECTORY ASCII AFTP/pub\n"},
		{[]string{"DIRECTORY", "ASCII", "ARCHIE/MATCH(95,0,=)/x"}, "DIRECTORY ASCII ARCHIE/MATCH(95,0,=)/x\n"},
		{[]string{"a b", "", "it's", "é", "\t"}, "'a b' '' 'it''s' 'é' '\t'\n"},
		{[]string{"a\nVERSION"}, ""}, {[]string{"a", "b\r"}, ""}, {[]string{"\x00"}, ""},
	} {
		got, err := AppendLine([]byte("before "), c.tokens...)
		if c.want == "" {
			if !errors.Is(err, ErrUnsafe) || string(got) != "before " {
				t.Errorf("%q: got %q, %v", c.tokens, got, err)
			}
		} else if err != nil || string(got) != "before "+c.want {
			t.Errorf("%q: got %q, %v", c.tokens, got, err)
		}
	}
}

// FuzzProsperoLine: tokens that are parsed, written and parsed again are equal,
// and Rest returns the same token as Line.
func FuzzProsperoLine(f *testing.F) {
	f.Add([]byte("LINK  L FILE it'''s a' x '' 'a\nb'\nSUCCESS"))
	f.Add([]byte("'a''"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		for {
			l, err := r.Line()
			if err != nil {
				return
			}
			var line []byte
			for i, token := range l.Tokens {
				if i > 0 {
					line = append(line, ' ')
				}
				line = AppendToken(line, token)
			}
			again, err := NewReader(bytes.NewReader(append(line, '\n'))).Line()
			if err != nil || !reflect.DeepEqual(again.Tokens, l.Tokens) {
				t.Fatalf("%q became %q, %v", l.Tokens, again.Tokens, err)
			}
			one := NewReader(strings.NewReader(l.Raw))
			if len(l.Tokens) < 2 {
				continue
			}
			one.Begin(len(l.Tokens) - 1)
			if rest, err := io.ReadAll(one.Rest()); err != nil || string(rest) != l.Tokens[len(l.Tokens)-1] {
				t.Fatalf("%q: rest is %q, %v", l.Tokens, rest, err)
			}
		}
	})
}
