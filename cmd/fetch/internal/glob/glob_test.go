package glob

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestExpansion(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // want: all expansions, or "" if text has no globs
		{"http://h/{a,b}", "http://h/a http://h/b"},
		{"{one,two}.example", "one.example two.example"},
		{"f[1-3].txt", "f1.txt f2.txt f3.txt"},
		{"[8-11]", "8 9 10 11"},
		{"[008-011]", "008 009 010 011"},
		{"[0-2]", "0 1 2"},
		{"[001-100:33]", "001 034 067 100"},
		{"[1-6:2]", "1 3 5"},
		{"[7-7]", "7"},
		{"[a-e:2]", "a c e"},
		{"[X-Z]", "X Y Z"},
		{"[1-2]{a,b}", "1a 1b 2a 2b"}, // the last glob changes first
		{"{a,,b}", "a  b"},
		{"{,x}", " x"},
		{`{a\,b,c\}}`, "a,b c}"},
		{`\{a,b\}[1-2]`, "{a,b}1 {a,b}2"},
		{`\a[1-2]`, `\a1 \a2`},
		{"{[1-2],b}", "[1-2] b"},
		{"[x[1-2]", "[x1 [x2"},
		{"ä{ö,ü}", "äö äü"},

		// Text in brackets or braces that is not a glob is literal.
		{"http://[::1]/", ""},
		{"http://[fe80::1%25eth0]:80/", ""},
		{"[1:2::3]", ""},
		{"a?b[]=1&c={2}&d[id]=3&e[0]=4", ""},
		{"d[2020-01-01]", ""},
		{"d[x-axis]", ""},
		{"d[a-1]", ""},
		{"d[1-a]", ""},
		{"d[-1]", ""},
		{"d[1-]", ""},
		{"d[1", ""},
		{"{", ""},
		{"}", ""},
		{"]", ""},
		{"{}", ""},
		{"{a", ""},
		{"{{a}}", ""},
		{"", ""},
	} {
		p, err := Parse(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var all []string
		for i := range p.Count() {
			text, values := p.Expansion(i)
			if all = append(all, text); len(values) != p.Globs() {
				t.Errorf("%q: %d values, want %d", c.text, len(values), p.Globs())
			}
		}
		want := c.want
		if want == "" {
			want = c.text
		}
		if got := strings.Join(all, " "); got != want || (p.Globs() == 0) != (c.want == "") {
			t.Errorf("%q expands to %q with %d globs, want %q", c.text, got, p.Globs(), want)
		}
	}
}

func TestParseError(t *testing.T) {
	for text, offset := range map[string]int{
		"x[9-1]":                       1,
		"[z-a]":                        0,
		"[a-Z]":                        0,
		"[1-9:0]":                      0,
		"[1-9:]":                       0,
		"[1-9:x]":                      0,
		"[1-9:-1]":                     0,
		"[1-9:9]":                      0,
		"[1-9:2":                       0,
		"[1-9":                         0,
		"[a-z":                         0,
		"[1-99999999999999999999]":     0,
		"[1-9:99999999999999999999]":   0,
		"[0-9223372036854775807]":      0,
		"ab{a,b":                       2,
		"{a,{b,c}}":                    0,
		"[1-4000000000][1-4000000000]": 14,
		strings.Repeat("{a,b}", 63):    62 * 5,
		strings.Repeat("[1-1]", 101):   100 * 5,
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) || e.Offset != offset {
			t.Errorf("%q: got %v, want an error at byte %d", text, err, offset)
		}
	}
}

// TestLarge checks that the last of many expansions is available at once.
func TestLarge(t *testing.T) {
	p, err := Parse("[1-1000000000]-[1-9223372036]")
	if err != nil || p.Count() != 9223372036*1000000000 {
		t.Fatalf("got %v, %v", p, err)
	}
	if text, _ := p.Expansion(p.Count() - 1); text != "1000000000-9223372036" {
		t.Errorf("got %q", text)
	}
	if p, err = Parse("[1-9223372036854775807]"); err != nil || p.Count() != math.MaxInt64 {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestSubstitute(t *testing.T) {
	values := []string{"a", "b#1", "c"}
	for name, want := range map[string]string{
		"f_#1.txt": "f_a.txt", "#2#1": "b#1a", "#0 #4 #x #": "#0 #4 #x #", "#12": "#12", "#99999999999999999999": "#99999999999999999999",
		"##3": "#c", "plain": "plain", "": "",
	} {
		if got := Substitute(name, values); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// FuzzParse checks that each pattern has a first and a last expansion, and that
// text without special characters does not change.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"{a,b}[1-3:2]", "[a-z]", `\{[1-`, "{a,{", "[000-9]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset >= len(text) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if p.Count() < 1 {
			t.Fatalf("%q has %d expansions", text, p.Count())
		}
		for _, i := range []int64{0, p.Count() - 1} {
			got, values := p.Expansion(i)
			if len(got) > len(text)*2+20*p.Globs() || len(values) != p.Globs() {
				t.Errorf("%q expands to %q", text, got)
			}
			if p.Globs() == 0 && !strings.Contains(text, `\`) && got != text {
				t.Errorf("%q became %q", text, got)
			}
		}
	})
}
