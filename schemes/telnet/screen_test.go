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

// ebcdic returns text in EBCDIC.
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
		{"command code of local terminals", "abc", []string{"\x05\xc3" + abc}},
		{"12-bit address", "\n              abc", []string{"\xf5\xc3\x11\xc1\x5e" + abc}},
		{"14-bit address", "\n              abc", []string{"\xf5\xc3\x11\x00\x5e" + abc}},
		{"wrap after the last position", "bc" + strings.Repeat("\n", 23) + strings.Repeat(" ", 79) + "a", []string{"\xf5\xc3\x11\x5d\x7f" + abc}},
		{"write at the cursor after a new address", "  abcabc", []string{"\xf5\xc3\x11\x40\xc2\x13" + abc, "\xf1\xc3\x11\x40\xc5" + abc}},
		{"write at the cursor", "  abc", []string{"\xf5\xc3\x11\x40\xc2\x13", "\xf1\xc3" + abc}},
		{"erase and write", "abc", []string{"\xf5\xc3" + abc + abc, "\x7e\xc3" + abc}},
		{"fields", " abc abc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc}},
		{"hidden field", "     abc", []string{"\xf5\xc3\x1d\x4c" + abc + "\x1d\x40" + abc}},
		{"hidden field that wraps", " abc", []string{"\xf5\xc3\x1d\x40" + abc + "\x11\x5d\x7e\x1d\x4cc"}},
		{"extended field", " abc", []string{"\xf5\xc3\x29\x02\x42\xf2\xc0\x4c\x11\x40\x40\x29\x01\xc0\x40" + abc}},
		{"extended field without an attribute", " abc", []string{"\xf5\xc3\x29\x00" + abc}},
		{"colours", "abc", []string{"\xf5\xc3\x28\x42\xf2" + abc}},
		{"modified field attribute", "", []string{"\xf5\xc3\x1d\x40" + abc, "\xf1\xc3\x11\x40\x40\x2c\x01\xc0\x4c"}},
		{"Modify Field outside an attribute", "abc", []string{"\xf5\xc3" + abc, "\xf1\xc3\x11\x40\x40\x2c\x01\xc0\x4c"}},
		{"repeat", "=====abc", []string{"\xf5\xc3\x3c\x40\xc5\x7e" + abc}},
		{"repeat to the same address", strings.Repeat(strings.Repeat("=", 80)+"\n", 24), []string{"\xf5\xc3\x3c\x40\x40\x7e"}},
		{"repeat that wraps", "==" + strings.Repeat("\n", 23) + strings.Repeat(" ", 79) + "=", []string{"\xf5\xc3\x11\x5d\x7f\x3c\x40\xc2\x7e"}},
		{"graphics", "\ufffdabc", []string{"\xf5\xc3\x08\xa2" + abc}},
		{"repeated graphic escape", "\ufffd\ufffdabc", []string{"\xf5\xc3\x3c\x40\xc2\x08\xa2" + abc}},
		{"control characters", "a   b", []string{"\xf5\xc3\x81\x0c\x15\x3f\x82"}},
		{"null characters", "a b", []string{"\xf5\xc3\x81\x00\x82"}},
		{"Erase All Unprotected", " abc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc, "\x6f"}},
		{"Erase Unprotected to Address", " abc  bc", []string{"\xf5\xc3\x1d\xf0" + abc + "\x1d\x40" + abc + "\x11\x40\x40\x12\x40\xc6"}},
		{"tab", " abc\n\n xyz", []string{"\xf5\xc3\x1d\xf0" + abc + "\x11\xc2\x60\x1d\x40\x11\x40\x40\x05" + ebcdic(t, "xyz")}},
		{"tab after text", " a\n\n x", []string{"\xf5\xc3\x1d\x40" + abc + "\x11\xc2\x60\x1d\x40\x11\x40\xc1" + ebcdic(t, "a") + "\x05" + ebcdic(t, "x")}},
		{"tab without an unprotected field", "xbc", []string{"\xf5\xc3" + abc + "\x05" + ebcdic(t, "x")}},
		{"read commands", "abc", []string{"\xf5\xc3" + abc, "\xf2", "\xf6", "\x6e", ""}},
		{"structured field with a write command", "abc", []string{"\xf3\x00\x08\x40\x00\xf5\xc3" + abc[:2], "\xf3\x00\x00\x40\x00\xf1\xc3\x11\x40\xc2" + abc[2:]}},
		{"other structured fields", "abc", []string{"\xf5\xc3" + abc, "\xf3\x00\x05\x01\xff\x02\x00\x03\x0e"}},
		{"write without a control character", "", []string{"\xf5"}},
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
		"unknown command":                          "\x99\xc3",
		"12-bit address outside the screen":        "\xf5\xc3\x11\x5f\x7f",
		"14-bit address outside the screen":        "\xf5\xc3\x11\x3f\xff",
		"truncated address":                        "\xf5\xc3\x11\x40",
		"truncated field":                          "\xf5\xc3\x1d",
		"truncated extended field":                 "\xf5\xc3\x29\x03\xc0\x40",
		"truncated repeat":                         "\xf5\xc3\x3c\x40\xc5",
		"truncated repeat of a graphic escape":     "\xf5\xc3\x3c\x40\xc5\x08",
		"truncated graphic escape":                 "\xf5\xc3\x08",
		"truncated erase address":                  "\xf5\xc3\x12\x40",
		"structured field longer than the record":  "\xf3\x00\x20\x40\x00\xf5",
		"structured field shorter than its header": "\xf3\x00\x02",
		"truncated structured field length":        "\xf3\x00",
		"nested structured field":                  "\xf3\x00\x09\x40\x00\xf3\x00\x05\x01\xff",
		"structured field without a command":       "\xf3\x00\x04\x40\x00",
	} {
		if err := newScreen().draw([]byte(r)); fetch.FaultOf(err) != fetch.Protocol {
			t.Errorf("%s: got %v, want Protocol", name, err)
		}
	}
}

// FuzzScreen checks that any two records result in a screen of 24 lines of 80
// characters without control characters, and that the result is deterministic.
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
				t.Fatalf("hidden field with text %q", f.Text)
			}
		}
		if len(shown.Fields) > 0 && length != cells {
			t.Fatalf("fields cover %d of %d cells", length, cells)
		}
	})
}
