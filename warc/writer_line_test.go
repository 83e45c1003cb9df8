package warc

import (
	"os"
	"testing"
)

// TestPlaceLine compares the index lines that Write returns with the lines of
// the file.
func TestPlaceLine(t *testing.T) {
	for name, plain := range map[string]bool{"packed": false, "plain": true} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions()
			opts.Uncompressed = plain
			dir := testFolder(t)
			w := testWriter(t, dir, opts)
			positions := writeSample(t, w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(dir.Name() + "/" + positions[0].File)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var placeLines []Line
			for _, p := range positions {
				if p.Line != (Line{}) {
					placeLines = append(placeLines, p.Line)
				}
			}
			n := 0
			for l, err := range Lines(positions[0].File, f) {
				if err != nil {
					t.Fatal(err)
				}
				if plain {
					l.Length = placeLines[n].Length // like warcio, without the line breaks
				}
				if n >= len(placeLines) || placeLines[n] != l {
					t.Fatalf("line %d: Write returned %+v, want %+v", n, placeLines[n], l)
				}
				n++
			}
			if n != len(placeLines) || n < 15 {
				t.Errorf("the file has %d lines, Write returned %d", n, len(placeLines))
			}
		})
	}
}
