package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenJournalPartialLine checks that openJournal removes an unfinished last
// line.
func TestOpenJournalPartialLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	for text, want := range map[string]string{
		"": "", "one\n": "one\n", "one\ntwo\n": "one\ntwo\n", "one\ntw": "one\n", "tw": "", long: "",
		"one\n" + long: "one\n", long + "\n" + long: long + "\n", long + "\n": long + "\n",
		long[:4095] + "\n": long[:4095] + "\n", "\n" + long[:4096]: "\n",
	} {
		dir := t.TempDir()
		name := filepath.Join(dir, journalFile)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(root)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.close(); err != nil {
			t.Error(err)
		}
		root.Close()
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("journal %.10q (%d bytes): got %.10q (%d bytes) and error %v, want %.10q (%d bytes)",
				text, len(text), got, len(got), err, want, len(want))
		}
	}
}
