package warc

import (
	"os"
	"testing"
)

// TestPlaceLines: what the Writer says of its records is what an index of the
// file says.
func TestPlaceLines(t *testing.T) {
	for name, plain := range map[string]bool{"packed": false, "plain": true} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions()
			opts.Uncompressed = plain
			dir := testFolder(t)
			w := testWriter(t, dir, opts)
			places := writeSample(t, w)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(dir.Name() + "/" + places[0].File)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var said []Line
			for _, p := range places {
				if p.Line != (Line{}) {
					said = append(said, p.Line)
				}
			}
			n := 0
			for l, err := range Lines(places[0].File, f) {
				if err != nil {
					t.Fatal(err)
				}
				if plain {
					l.Length = said[n].Length // warcio leaves out the line ends
				}
				if n >= len(said) || said[n] != l {
					t.Fatalf("line %d: said %+v, is %+v", n, said[n], l)
				}
				n++
			}
			if n != len(said) || n < 15 {
				t.Errorf("%d lines, %d said", n, len(said))
			}
		})
	}
}
