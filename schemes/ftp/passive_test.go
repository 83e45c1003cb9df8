package ftp

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/line"
)

// FuzzPASV holds the reading of 227 and 229 against grammars: six numbers of a
// byte in a run, and RFC 2428 3.
func FuzzPASV(f *testing.F) {
	for _, text := range []string{
		"Entering Passive Mode (127,0,0,1,156,64)", "Entering Passive Mode (127,0,0,1,156,64).", "=127,0,0,1,156,64",
		"127.0.0.1:40000", "(1,2,3,4,5)", "(1,2,3,4,5,6,7)", "(256,0,0,1,1,1)", "(0,0,0,0,0,0)", "1,2,3,4,5,6 7,8,9,10,11,12",
		"(001,002,003,004,005,006)", "(1,2,3,4,99999999999999999999,6)", "1,2,3,,4,5,6",
		"Entering Extended Passive Mode (|||40000|)", "(!!!40000!)", "(|||0|)", "(|||65536|)", "(||||)", "(|1|1.2.3.4|5|)", "(|||40000", "(111111)", "((((5()", "(|||5|", "(  5 )",
	} {
		f.Add(text)
	}
	runs := regexp.MustCompile(`[0-9][0-9,]*`)
	f.Fuzz(func(t *testing.T, text string) {
		port, err := parsePassive(line.Reply{Code: 227, Lines: []string{"more", text}})
		var want uint64
		for _, run := range runs.FindAllString(text, -1) {
			if want = portIn(run); want != 0 {
				break
			}
		}
		if uint64(port) != want || (err == nil) != (want != 0) {
			t.Errorf("227 %q: got %d, %v, want %d", text, port, err, want)
		}
		port, err = parsePassive(line.Reply{Code: 229, Lines: []string{text}})
		if (err == nil) != (port != 0) {
			t.Errorf("229 %q: got %d, %v", text, port, err)
		}
		if port != 0 && !says(text, strconv.Itoa(int(port))) {
			t.Errorf("229 %q: got %d, which it does not say", text, port)
		}
		if port, err := parsePassive(line.Reply{Code: 200, Lines: []string{text}}); port != 0 || err != nil {
			t.Errorf("200 %q: got %d, %v", text, port, err)
		}
	})
}

// says reports whether text has port between brackets and four of one sign.
func says(text, port string) bool {
	form := regexp.MustCompile(`^\((.)(.)(.)0*` + port + `(.)\)`)
	for i := range text {
		if m := form.FindStringSubmatch(text[i:]); m != nil && m[1] == m[2] && m[2] == m[3] && m[3] == m[4] {
			return true
		}
	}
	return false
}

// portIn is the port of a run of numbers and commas, or zero.
func portIn(run string) uint64 {
	var n [6]uint64
	parts := strings.Split(run, ",")
	if len(parts) != len(n) {
		return 0
	}
	for i, p := range parts {
		p = strings.TrimLeft(p, "0")
		if len(p) > 3 || p == "" && parts[i] == "" {
			return 0
		}
		if p != "" {
			n[i], _ = strconv.ParseUint(p, 10, 64)
		}
		if n[i] > 255 {
			return 0
		}
	}
	return n[4]<<8 | n[5]
}

// TestPassive: every port that a server can say.
func TestPassive(t *testing.T) {
	for port := range 1 << 16 {
		for code, text := range map[int]string{
			227: fmt.Sprintf("Entering Passive Mode (192,0,2,1,%d,%d)", port>>8, port&255),
			229: fmt.Sprintf("Entering Extended Passive Mode (|||%d|)", port),
		} {
			got, err := parsePassive(line.Reply{Code: code, Lines: []string{text}})
			if int(got) != port || (err == nil) != (port > 0) {
				t.Fatalf("%d %s: got %d, %v", code, text, got, err)
			}
		}
	}
}

// FuzzQuoted: what RFC 959 writes between quotes is read back.
func FuzzQuoted(f *testing.F) {
	for _, name := range []string{"/", "", `a"b`, `""`, `"`, "/home/bob"} {
		f.Add(name, " is the current directory")
	}
	f.Fuzz(func(t *testing.T, name, rest string) {
		text := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		if !strings.HasPrefix(rest, `"`) {
			text += rest
		}
		if got, ok := parseQuoted(text); !ok || got != name {
			t.Errorf("%q: got %q, %v, want %q", text, got, ok, name)
		}
		if got, ok := parseQuoted(name); ok && strings.Count(name, `"`) < 2 {
			t.Errorf("%q: got %q", name, got)
		}
	})
}
