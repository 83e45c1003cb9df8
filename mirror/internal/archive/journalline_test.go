package archive

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type testLine struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

// writeJournal returns the journal with lines for the given texts, and the
// lines without checksums.
func writeJournal(t testing.TB, texts ...string) (journal []byte, lines []string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	j, err := openJournal(root)
	if err != nil {
		t.Fatal(err)
	}
	for n, text := range texts {
		if err := j.write(journalLine(testLine{n, text})); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf(`{"n":%d,"text":%q}`, n, text))
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	journal, err = os.ReadFile(filepath.Join(dir, journalFile))
	if err != nil {
		t.Fatal(err)
	}
	return journal, lines
}

// readLines returns the readable lines and the number of damaged lines.
func readLines(t testing.TB, journal []byte) (lines []string, damaged int) {
	t.Helper()
	for line, err := range journalLines(bytes.NewReader(journal)) {
		if err != nil {
			t.Fatal(err)
		}
		if line == nil {
			damaged++
		} else {
			lines = append(lines, string(line))
		}
	}
	return lines, damaged
}

// TestJournalBitFlips changes each bit of a journal. Only the line with the bit
// is lost. If the bit is in a line break, no line is lost, because the checksum
// marks the end of the line.
func TestJournalBitFlips(t *testing.T) {
	journal, want := writeJournal(t, "one", "http://a.example/?q=1", `"crc32":"`, "four")
	for bit := range 8 * len(journal) {
		damaged := bytes.Clone(journal)
		damaged[bit/8] ^= 1 << (bit % 8)
		at := bytes.Count(journal[:bit/8], []byte("\n"))
		expect := slices.Delete(slices.Clone(want), at, at+1)
		got, n := readLines(t, damaged)
		if n == 0 && got[0] != want[0] && strings.HasPrefix(got[0], strings.TrimSuffix(want[0], "}")) {
			continue // the name of the checksum in the first line; the other members are intact
		}
		switch {
		case journal[bit/8] == '\n':
			if n != 0 || !slices.Equal(got, want) {
				t.Fatalf("bit %d in a line break: %d damaged lines, got %q", bit, n, got)
			}
		case n < 1 || n > 2 || !slices.Equal(got, expect):
			t.Fatalf("bit %d: %d damaged lines, got %q", bit, n, got)
		}
	}
}

// TestJournalDamage reads journals with the damage of crashes and disks.
func TestJournalDamage(t *testing.T) {
	journal, lines := writeJournal(t, "one", "two", "three")
	text := string(journal)
	first, rest, _ := strings.Cut(text, "\n")
	for name, c := range map[string]struct {
		journal string
		want    []string
		damaged int
	}{
		"empty":                              {"", nil, 0},
		"truncated in the last line":         {text[:len(text)-5], lines[:2], 1},
		"last line without its line break":   {text[:len(text)-1], lines, 0},
		"begins within a line":               {text[5:], lines[1:], 1},
		"zeros in place of a line":           {first + "\n" + strings.Repeat("\x00", 50) + "\n" + rest, lines, 1},
		"an earlier version wrote the start": {"{\"n\":7}\n{\"n\":8}\n" + text, append([]string{`{"n":7}`, `{"n":8}`}, lines...), 0},
		"no checksum in a later line":        {text + "{\"n\":7}\n", lines, 1},
		"a very long line":                   {text + strings.Repeat("x", 3*maxJournalLine) + "\n" + text, append(slices.Clone(lines), lines...), 1},
		"only long":                          {strings.Repeat("x", 3*maxJournalLine), nil, 1},
		"an empty line":                      {"\n" + text, append([]string{""}, lines...), 0},
	} {
		if got, n := readLines(t, []byte(c.journal)); n != c.damaged || !slices.Equal(got, c.want) {
			t.Errorf("%s: %d damaged lines, got %.200q", name, n, got)
		}
	}
}

// TestLongestLine checks that journalLine returns only lines that a reader accepts,
// and that a reader accepts no longer lines.
func TestLongestLine(t *testing.T) {
	t.Parallel()
	lineOf := func(n int) []byte { // the JSON object has n bytes
		empty := len(`{"n":1,"text":""}`)
		return journalLine(testLine{1, strings.Repeat("x", n-empty)})
	}
	longest := maxJournalLine - checksumSize
	if line := lineOf(longest + 1); line != nil {
		t.Errorf("a line of %d bytes", len(line))
	}
	line := lineOf(longest)
	if len(line) != maxJournalLine {
		t.Fatalf("the longest line has %d bytes, want %d", len(line), maxJournalLine)
	}
	if lines, damaged := readLines(t, line); len(lines) != 1 || damaged != 0 {
		t.Errorf("the longest line: %d lines, %d damaged", len(lines), damaged)
	}
	for _, more := range []int{1, 2, 64 << 10} {
		long := appendChecksum([]byte(`{"text":"` + strings.Repeat("x", maxJournalLine-checksumSize-11+more) + `"}`))
		if lines, damaged := readLines(t, append(long, line...)); len(long) != maxJournalLine+more || len(lines) != 1 || damaged != 1 {
			t.Errorf("a line of %d bytes: %d lines, %d damaged", len(long), len(lines), damaged)
		}
	}
}

// FuzzJournalLines checks that every input is read completely and that no line
// with a checksum is accepted unless the checksum matches.
func FuzzJournalLines(f *testing.F) {
	journal, _ := writeJournal(f, "one", "two")
	f.Add(journal)
	f.Add([]byte("{}\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		lines, damaged := readLines(t, in)
		if total := len(lines) + damaged; total > len(in)+1 {
			t.Errorf("%d lines in %d bytes", total, len(in))
		}
	})
}
