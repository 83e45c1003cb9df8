package autoindex

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// forms contains the regular expressions that have the meaning of the shapes in
// dates.
var forms = []string{
	`(?:\d{4}-\d\d-\d\d|\d\d-?[A-Z][a-z]{2}-?\d{4}|\d{4}-[A-Z][a-z]{2}-\d\d) \d\d:\d\d(?::\d\d)?`,
	`[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d`,
	`\d{1,2}/\d{1,2}/\d{4} \d{1,2}:\d\d [AP]M`,
	`[A-Z][a-z]{2} \d{1,2} (?:\d{4}|\d\d:\d\d)`,
}

// mutate returns text with some characters replaced, removed or repeated.
func mutate(r *rand.Rand, text string) string {
	b := []byte(text)
	for range r.IntN(4) {
		i := r.IntN(len(b) + 1)
		c := "09AaPM-:/ ,.KkiB\n"[r.IntN(17)]
		switch {
		case i == len(b) || r.IntN(3) == 0:
			b = append(b[:i], append([]byte{c}, b[i:]...)...)
		case r.IntN(2) == 0:
			b[i] = c
		default:
			b = append(b[:i], b[i+1:]...)
		}
	}
	return string(b)
}

// TestShapes compares the shapes of dates and sizes with regular expressions.
func TestShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{
		"2024-01-02 03:04:05", "2024-01-02 03:04", "02-Jan-2024 03:04", "02Jan2024 03:04:05", "2024-Jan-02 03:04", "Mon, 02 Jan 2024 03:04:05",
		"1/2/2024 3:04 PM", "11/12/2024 10:04 AM", "Jan 2 2024", "Jan 02 03:04", "12", "1.5 KiB", "3M x", "12 foo", "12. B", "4 kB",
		"x 12 K", "12 Kfoo", "a 1.5", "1 2 3",
	}
	after := regexp.MustCompile(`^(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?(?: |$)`)
	before := regexp.MustCompile(`(?:^| )(\d+(?:\.\d+)?) ?([kKMGT]?)i?B?$`)
	for i, form := range forms {
		re, matches := regexp.MustCompile(form), 0
		for range 5_000 {
			text := mutate(r, texts[r.IntN(len(texts))]) + " " + mutate(r, texts[r.IntN(len(texts))])
			start, end, ok := findAny(dates[i].shapes, text)
			if at := re.FindStringIndex(text); (at != nil) != ok || ok && (at[0] != start || at[1] != end) {
				t.Fatalf("%q: got %d, %d, %t, want %v for %s", text, start, end, ok, at, form)
			} else if ok {
				matches++
			}
			for name, c := range map[string]struct {
				re    *regexp.Regexp
				parse func(string) (string, string, bool)
			}{"after": {after, sizeAfter}, "before": {before, sizeBefore}} {
				number, unit, ok := c.parse(text)
				m := c.re.FindStringSubmatch(text)
				if (m != nil) != ok || ok && (m[1] != number || m[2] != unit) {
					t.Fatalf("%q: size %s the date: got %q, %q, %t, want %q", text, name, number, unit, ok, m)
				}
			}
		}
		if matches < 100 {
			t.Errorf("%s: only %d matches", form, matches)
		}
	}
	if long := strings.Repeat("1", 1<<20); true {
		if _, _, ok := findAny(dates[0].shapes, long); ok {
			t.Error("digits are a date")
		}
	}
}
