package telnet

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/anyurl/fetch/fetch"
)

// ebcdic writes text as a host does.
func ebcdic(t *testing.T, text string) string {
	t.Helper()
	s, err := charmap.CodePage037.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDraw(t *testing.T) {
	abc := ebcdic(t, "abc")
	for _, test := range []struct {
		name, want string
		records    []string
	}{
		{"text", "abc", []string{"\xf5\xc3" + abc}},
		{"local codes", "abc", []string{"\x05\xc3" + abc}},
		{"a 12-bit place", "\n              abc", []string{"\xf5\xc3\x11\xc1\x5e" + abc}},
		{"a 14-bit place", "\n              abc", []string{"\xf5\xc3\x11\x00\x5e" + abc}},
		{"the last place, then round", "bc" + strings.Repeat("\n", 23) + strings.Repeat(" ", 79) + "a", []string{"\xf5\xc3\x11\x5d\x7f" + abc}},
		{"write where the cursor is", "  abcabc", []string{"\xf5\xc3\x11\x40\xc2\x13" + abc, "\xf1\xc3\x11\x40\xc5" + abc}},
		{"write without a place", "  abc", []string{"\xf5\xc3\x11\x40\xc2\x13", "\xf1\xc3" + abc}},
		{"erase first", "abc", []string{"\xf5\xc3" + abc + abc, "\x7e\xc3" + abc}},
		{"fields", " abc abc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc}},
		{"a hidden field", "     abc", []string{"\xf5\xc3\x1d\x4c" + abc + "\x1d\x40" + abc}},
		{"a hidden field round the end", " abc", []string{"\xf5\xc3\x1d\x40" + abc + "\x11\x5d\x7e\x1d\x4cc"}},
		{"an extended field", " abc", []string{"\xf5\xc3\x29\x02\x42\xf2\xc0\x4c\x11\x40\x40\x29\x01\xc0\x40" + abc}},
		{"an extended field without an attribute", " abc", []string{"\xf5\xc3\x29\x00" + abc}},
		{"colours", "abc", []string{"\xf5\xc3\x28\x42\xf2" + abc}},
		{"modify a field", "", []string{"\xf5\xc3\x1d\x40" + abc, "\xf1\xc3\x11\x40\x40\x2c\x01\xc0\x4c"}},
		{"modify what is no field", "abc", []string{"\xf5\xc3" + abc, "\xf1\xc3\x11\x40\x40\x2c\x01\xc0\x4c"}},
		{"repeat", "=====abc", []string{"\xf5\xc3\x3c\x40\xc5\x7e" + abc}},
		{"repeat to the same place", strings.Repeat(strings.Repeat("=", 80)+"\n", 24), []string{"\xf5\xc3\x3c\x40\x40\x7e"}},
		{"repeat round the end", "==" + strings.Repeat("\n", 23) + strings.Repeat(" ", 79) + "=", []string{"\xf5\xc3\x11\x5d\x7f\x3c\x40\xc2\x7e"}},
		{"graphics", "\ufffdabc", []string{"\xf5\xc3\x08\xa2" + abc}},
		{"repeated graphics", "\ufffd\ufffdabc", []string{"\xf5\xc3\x3c\x40\xc2\x08\xa2" + abc}},
		{"controls are blank", "a   b", []string{"\xf5\xc3\x81\x0c\x15\x3f\x82"}},
		{"nothing is blank", "a b", []string{"\xf5\xc3\x81\x00\x82"}},
		{"erase what may be written", " abc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc, "\x6f"}},
		{"erase it to a place", " abc  bc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc + "\x11\x40\x40\x12\x40\xc6"}},
		{"tab", " abc\n\n xyz", []string{"\xf5\xc3\x1d\xf0" + abc + "\x11\xc2\x60\x1d\x40\x11\x40\x40\x05" + ebcdic(t, "xyz")}},
		{"tab clears the rest behind text", " a\n\n x", []string{"\xf5\xc3\x1d\x40" + abc + "\x11\xc2\x60\x1d\x40\x11\x40\xc1" + ebcdic(t, "a") + "\x05" + ebcdic(t, "x")}},
		{"tab without a place to go", "xbc", []string{"\xf5\xc3" + abc + "\x05" + ebcdic(t, "x")}},
		{"reads change nothing", "abc", []string{"\xf5\xc3" + abc, "\xf2", "\xf6", "\x6e", ""}},
		{"a structured field that writes", "abc", []string{"\xf3\x00\x08\x40\x00\xf5\xc3" + abc[:2], "\xf3\x00\x00\x40\x00\xf1\xc3\x11\x40\xc2" + abc[2:]}},
		{"others change nothing", "abc", []string{"\xf5\xc3" + abc, "\xf3\x00\x05\x01\xff\x02\x00\x03\x0e"}},
		{"no control character", "", []string{"\xf5"}},
	} {
		s := newScreen()
		for _, r := range test.records {
			if err := s.draw([]byte(r)); err != nil {
				t.Errorf("%s: %q: %v", test.name, r, err)
			}
		}
		got := string(s.text(charmap.CodePage037))
		if want := strings.TrimRight(test.want, "\n") + "\n"; got != want {
			t.Errorf("%s: got %q, want %q", test.name, got, want)
		}
	}
}

func TestDrawErrors(t *testing.T) {
	for name, r := range map[string]string{
		"no command":                 "\x99\xc3",
		"a place beyond the end":     "\xf5\xc3\x11\x5f\x7f",
		"another":                    "\xf5\xc3\x11\x3f\xff",
		"cut in a place":             "\xf5\xc3\x11\x40",
		"cut in a field":             "\xf5\xc3\x1d",
		"cut in an extended field":   "\xf5\xc3\x29\x03\xc0\x40",
		"cut in a repeat":            "\xf5\xc3\x3c\x40\xc5",
		"cut in repeated graphics":   "\xf5\xc3\x3c\x40\xc5\x08",
		"cut in graphics":            "\xf5\xc3\x08",
		"cut in an erase":            "\xf5\xc3\x12\x40",
		"a structured field too big": "\xf3\x00\x20\x40\x00\xf5",
		"too small":                  "\xf3\x00\x02",
		"cut in its length":          "\xf3\x00",
		"within itself":              "\xf3\x00\x09\x40\x00\xf3\x00\x05\x01\xff",
		"without a command":          "\xf3\x00\x04\x40\x00",
	} {
		if err := newScreen().draw([]byte(r)); fetch.FaultOf(err) != fetch.Protocol {
			t.Errorf("%s: got %v, want Protocol", name, err)
		}
	}
}

// FuzzScreen: any two records make a screen of 24 lines of 80 characters with
// nothing in them that acts on a terminal, and the same one each time.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{"\xf5\xc3\x11@[\x1d\xe8\xc6\xc5\xe3", "\xf1\xc3\x29\x02\xc0\xc1A\xf4\x13\x05\x3c\x40\xc5\x08\xa2\x12@@", "\xf3\x00\x09\x40\x00\xf5\xc3\x81\x82", "\x6f", "\xf5\xc3\x3c\x40\x40\x7e"} {
		f.Add([]byte(s), []byte("\xf1\xc3\x2c\x01\xc0\x4c"))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		s := newScreen()
		for _, r := range [][]byte{one, two} {
			if err := s.draw(r); err != nil && fetch.FaultOf(err) != fetch.Protocol {
				t.Fatal(err)
			}
		}
		text := string(s.text(charmap.CodePage1047))
		for _, line := range strings.SplitAfter(text, "\n") {
			if utf8.RuneCountInString(line) > cols+1 || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl) {
				t.Fatalf("line %q", line)
			}
		}
		var shown Screen
		if err := json.Unmarshal(s.json(charmap.CodePage037), &shown); err != nil || len(shown.Lines) != rows {
			t.Fatalf("%d lines, %v", len(shown.Lines), err)
		}
		length := 0
		for _, f := range shown.Fields {
			if length += f.Length + 1; f.Hidden && f.Text != "" {
				t.Fatalf("shows %q", f.Text)
			}
		}
		if len(shown.Fields) > 0 && length != cells {
			t.Fatalf("fields cover %d places of %d", length, cells)
		}
	})
}
