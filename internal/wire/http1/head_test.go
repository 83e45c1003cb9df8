package http1

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type field struct{ Name, Value string }

// modes has all modes in the order of decreasing strictness.
var modes = []Mode{Strict, Regular, Tolerant, Stored}

// TestHead checks the result of parsing a head and the strictest mode that
// accepts it.
func TestHead(t *testing.T) {
	for _, test := range []struct {
		name, head string
		least      Mode
		want       string // protocol, status code and fields
	}{
		{"status line only", "HTTP/1.1 200\r\n", Strict, "HTTP/1.1 200"},
		{"field", "HTTP/1.0 404 Not Found\r\nA: b\r\n", Strict, "HTTP/1.0 404 A=b"},
		{"bare LF", "HTTP/1.1 200 OK\nA: b\n", Strict, "HTTP/1.1 200 A=b"},
		{"blanks around the value", "HTTP/1.1 200 OK\r\nA: \t b c \t\r\nB:\r\n", Strict, "HTTP/1.1 200 A=b c B="},
		{"bytes above 127", "HTTP/1.1 200 OK\r\nA: \xe4\r\n", Strict, "HTTP/1.1 200 A=\xe4"},
		{"folded", "HTTP/1.1 200 OK\r\nA: b \r\n\t c\r\nB:\r\n d\r\n \r\n", Strict, "HTTP/1.1 200 A=b c B=d"},
		{"HTTP/1.9", "HTTP/1.9 200 OK\r\n", Strict, "HTTP/1.9 200"},
		{"HTTP/1.7", "HTTP/1.7 200 OK\r\n", Strict, "HTTP/1.7 200"},
		{"two spaces before the status code", "HTTP/1.1  200 OK\r\n", Regular, "HTTP/1.1 200"},
		{"status code 099", "HTTP/1.1 099 OK\r\n", Regular, "HTTP/1.1 99"},
		{"blank before the colon", "HTTP/1.1 200 OK\r\nVia : p\r\n", Regular, "HTTP/1.1 200 Via=p"},
		{"blank in the name", "HTTP/1.1 200 OK\r\nX Y: p\r\n", Regular, "HTTP/1.1 200 X Y=p"},
		{"blank before the colon of Content-Length", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n", Tolerant, "HTTP/1.1 200 Content-Length=5"},
		{"tab before the colon", "HTTP/1.1 200 OK\r\nVia\t: p\r\n", Tolerant, "HTTP/1.1 200 Via=p"},
		{"name is not a token", "HTTP/1.1 200 OK\r\nA(): p\r\n", Tolerant, "HTTP/1.1 200 A()=p"},
		{"no name", "HTTP/1.1 200 OK\r\n: p\r\n", Tolerant, "HTTP/1.1 200"},
		{"no colon", "HTTP/1.1 200 OK\r\nx\r\nA: b\r\n", Tolerant, "HTTP/1.1 200 A=b"},
		{"first field folded", "HTTP/1.1 200 OK\r\n x: y\r\nA: b\r\n", Tolerant, "HTTP/1.1 200 A=b"},
		{"no status code", "HTTP/1.1\r\n", Tolerant, "HTTP/1.1 200"},
		{"status code of four digits", "HTTP/1.1 2000 OK\r\n", Tolerant, "HTTP/1.1 200"},
		{"status code with a sign", "HTTP/1.1 +20 OK\r\n", Tolerant, "HTTP/1.1 200"},
		{"version in lower case", "http/1.1 200 OK\r\n", Tolerant, "HTTP/1.0 200"},
		{"ICY", "ICY 200 OK\r\n", Tolerant, "HTTP/1.0 200"},
		{"HTTP/2", "HTTP/2 200\r\n", Tolerant, "HTTP/1.0 200"},
		{"control character", "HTTP/1.1 200 OK\r\nA: b\x1bc\r\n", Tolerant, "HTTP/1.1 200 A=bc"},
		{"bare CR", "HTTP/1.1 200 OK\r\nA: b\rc\r\n", Tolerant, "HTTP/1.1 200 A=bc"},
	} {
		for _, mode := range modes {
			notes := 0
			rules := &Rules{Mode: mode, Note: func(string) { notes++ }}
			s, fields, err := ParseHead[field](rules, test.head)
			if mode < test.least {
				var e *Error
				if !errors.As(err, &e) || e.TooLarge {
					t.Errorf("%s, mode %d: %+v, %+v, %v", test.name, mode, s, fields, err)
				}
				continue
			}
			got := fmt.Sprint(s.Proto, " ", s.Code)
			for _, f := range fields {
				got += " " + f.Name + "=" + f.Value
			}
			if err != nil || mode != Stored && got != test.want {
				t.Errorf("%s, mode %d: %q, %v, want %q", test.name, mode, got, err, test.want)
			}
			if (notes > 0) != (test.least == Tolerant) {
				t.Errorf("%s, mode %d: %d notes", test.name, mode, notes)
			}
		}
	}
}

// TestStoredHead checks that the mode Stored keeps malformed values unchanged
// and accepts requests.
func TestStoredHead(t *testing.T) {
	for head, want := range map[string]string{
		"HTTP/2 200\r\nA: b\r\n":                        "HTTP/2 200 [{A b}]",
		"ICY 200 OK\r\n":                                "ICY 200 []",
		"HTTP/1.1 200 OK\r\nA: b\x1bc\r\r\n":            "HTTP/1.1 200 [{A b\x1bc}]",
		"\r\n\r\nHTTP/1.1 200 OK\r\n":                   "HTTP/1.1 200 []",
		"GET / HTTP/1.1\r\nHost: h\r\nA : b\r\nx\r\n\n": " 0 [{Host h} {A b}]",
		"": " 0 []",
	} {
		s, fields, err := ParseHead[field](&Rules{Mode: Stored}, head)
		if got := fmt.Sprint(s.Proto, " ", s.Code, " ", fields); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", head, got, err, want)
		}
	}
}

// TestLines checks that a head ends at its blank line, regardless of the size
// of the pieces, and that the limits are enforced.
func TestLines(t *testing.T) {
	const head, rest = "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "rest"
	for _, test := range []struct {
		name, wire string
		mode       Mode
		want       string
		done       bool
		err        string
	}{
		{"head", head + rest, Strict, head, true, ""},
		{"bare LF", "HTTP/1.1 200 OK\nA: b\n\n" + rest, Strict, "HTTP/1.1 200 OK\nA: b\n\n", true, ""},
		{"mixed line endings", "HTTP/1.1 200 OK\r\nA: b\n\r\n" + rest, Strict, "HTTP/1.1 200 OK\r\nA: b\n\r\n", true, ""},
		{"incomplete", "HTTP/1.1 200 OK\r\nA: b\r\n", Strict, "HTTP/1.1 200 OK\r\nA: b\r\n", false, ""},
		{"incomplete line", "HTTP/1.1 200 OK\r\nA: b", Strict, "HTTP/1.1 200 OK\r\n", false, ""},
		{"blank line first, strict", "\r\n" + head, Strict, "\r\n", true, ""},
		{"blank lines first, tolerant", "\r\n\n" + head + rest, Tolerant, "\r\n\n" + head, true, ""},
		{"CR CR LF", "HTTP/1.1 200 OK\r\r\n\r\r\n" + rest, Stored, "HTTP/1.1 200 OK\r\r\n\r\r\n", true, ""},
		{"500 fields", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", MaxFields) + "\r\n", Strict, "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", MaxFields) + "\r\n", true, ""},
		{"501 fields", "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", MaxFields+1) + "\r\n", Strict, "", false, "response head has more than 500 fields"},
		{"head of the limit", headOf(MaxHead), Strict, headOf(MaxHead), true, ""},
		{"head of one byte more", headOf(MaxHead + 1), Strict, "", false, "response head larger than 262144 bytes"},
		{"long line", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", MaxHead), Strict, "", false, "response head larger than 262144 bytes"},
	} {
		for _, size := range []int{1, 7, len(test.wire)} {
			lines := Lines{Rules: &Rules{Mode: test.mode}}
			n, done, err := 0, false, error(nil)
			for n < len(test.wire) && !done && err == nil {
				var k int
				k, done, err = lines.Next([]byte(test.wire[n:min(n+size, len(test.wire))]))
				n += k
			}
			if test.err != "" {
				var e *Error
				if !errors.As(err, &e) || !e.TooLarge || e.Text != test.err {
					t.Errorf("%s by %d: %v", test.name, size, err)
				}
				continue
			}
			if got := string(lines.Complete()); got != test.want || done != test.done || err != nil || done && n != len(test.want) {
				t.Errorf("%s by %d: %q, %d bytes, %v, %v", test.name, size, got, n, done, err)
			}
		}
	}
}

// headOf returns a head of n bytes.
func headOf(n int) string {
	const start, end = "HTTP/1.1 200 OK\r\nA: ", "\r\n\r\n"
	return start + strings.Repeat("b", n-len(start)-len(end)) + end
}

// TestInterim checks that the limit on fields applies to the heads of all
// interim responses together.
func TestInterim(t *testing.T) {
	const one = "HTTP/1.1 103 x\r\nA: b\r\n\r\n"
	lines := Lines{Rules: &Rules{}}
	for i := range MaxFields {
		if _, done, err := lines.Next([]byte(one)); !done || err != nil || lines.Head() != one {
			t.Fatalf("head %d: %q, %v, %v", i, lines.Head(), done, err)
		}
		lines.Restart(lines.Text)
	}
	if string(lines.Text) != strings.Repeat(one, MaxFields) {
		t.Errorf("kept %d bytes", len(lines.Text))
	}
	if _, _, err := lines.Next([]byte(one)); err == nil {
		t.Error("accepted one field above the limit")
	}
}

// TestUnfold checks that Unfold takes linear time, measured in allocations.
func TestUnfold(t *testing.T) {
	text := "A: 1\r\n" + strings.Repeat(" x\r\n", 10_000)
	var got string
	if allocs := testing.AllocsPerRun(1, func() { got, _ = Unfold(text) }); allocs > 10 {
		t.Errorf("%v allocations", allocs)
	}
	if want := "A: 1" + strings.Repeat(" x", 10_000) + "\r\n"; got != want {
		t.Errorf("got %.100q", got)
	}
	const name = "A\r\n 1: 2\r\n 3\r\nB: 4\r\n"
	if got, _ := Unfold(name + " 5\r\n"); got != strings.TrimSuffix(name, "\r\n")+" 5\r\n" {
		t.Errorf("folded name: got %q", got)
	}
}

// FuzzHead checks that a head that one mode accepts has the same result in all
// less strict modes, and that only Stored returns control characters.
func FuzzHead(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length : 5\r\n")
	f.Add("ICY 20\n x\n\x00: y\nX Y:\tz \r\n")
	f.Fuzz(func(t *testing.T, head string) {
		last := ""
		for _, mode := range modes[:3] {
			s, fields, err := ParseHead[field](&Rules{Mode: mode}, head)
			if err != nil {
				if last != "" {
					t.Fatalf("%q: mode %d rejects %s", head, mode, last)
				}
				continue
			}
			for _, f := range fields {
				if HasControl(f.Value) || HasControl(f.Name) || f.Name == "" {
					t.Fatalf("%q: field %q", head, f)
				}
			}
			if got := fmt.Sprintf("%+v %q", s, fields); last != "" && got != last {
				t.Fatalf("%q: %s, mode %d: %s", head, last, mode, got)
			} else {
				last = got
			}
		}
		if _, _, err := ParseHead[field](&Rules{Mode: Stored}, head); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
	})
}
