package prospertest

import (
	"embed"
	"encoding/hex"
	"strings"
	"testing"
)

//go:embed testdata/*.hex
var recordings embed.FS

// A Datagram is one that was recorded: of a client, or of dirsrv.
type Datagram struct {
	Client bool
	Bytes  []byte
}

// Recorded reads a conversation with dirsrv, in its order; testdata/README.md
// says what there is.
func Recorded(t testing.TB, file string) (all []Datagram) {
	t.Helper()
	text, err := recordings.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\n")
		switch {
		case l == "" || l[0] == '#':
			if client := strings.Contains(l, "C>S"); client || strings.Contains(l, "S>C") {
				all = append(all, Datagram{Client: client})
			}
		case len(all) > 0:
			b, err := hex.DecodeString(strings.ReplaceAll(l[8:min(56, len(l))], " ", ""))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			last := &all[len(all)-1]
			last.Bytes = append(last.Bytes, b...)
		}
	}
	if len(all) == 0 {
		t.Fatalf("%s holds no datagram", file)
	}
	return all
}

// Recordings lists what Recorded can read.
func Recordings(t testing.TB) (files []string) {
	t.Helper()
	all, err := recordings.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		files = append(files, f.Name())
	}
	return files
}
