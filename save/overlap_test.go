package save_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// TestOverlap checks that a resumed body with a weak validator must repeat the
// last bytes of the part. Otherwise the file starts again.
func TestOverlap(t *testing.T) {
	const first, size = 10_000, 20_000
	body := strings.Repeat("0123456789", size/10)
	for _, test := range []struct {
		name, url string
		rest      int64  // result of State.RequestOffset
		sent      string // bytes from there on
		writes    int    // bytes per call of Write
		err       error
		then      int64 // State().Offset afterwards
	}{
		{"http", "http://h/x", first, body[first:], size, nil, size},
		{"ftp", "ftp://h/x", first - 4096, body[first-4096:], size, nil, size},
		{"ftps, in small pieces", "ftps://h/x", first - 4096, body[first-4096:], 1000, nil, size},
		{"another beginning", "ftp://h/x", first - 4096, "x" + body[first-4095:], size, fetch.Mismatch, 0},
		{"another end of what is there", "ftp://h/x", first - 4096, body[first-4096:first-1] + "x" + body[first:], 1000, fetch.Mismatch, 0},
		{"cut within", "ftp://h/x", first - 4096, body[first-4096 : first-1], size, fetch.Truncated, first},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			of := save.State{Validator: "20260101000000-20000", Size: size}
			begin := func() *save.File {
				f, err := save.Create(path, save.Options{URL: test.url, Resume: true, Weak: strings.HasPrefix(test.url, "ftp")})
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			f := begin()
			if err := f.Begin(of); err != nil {
				t.Fatal(err)
			}
			f.Write([]byte(body[:first]))
			f.Close()
			f = begin()
			defer f.Close()
			if have := f.State(); have.Offset != first || have.RequestOffset() != test.rest {
				t.Fatalf("%+v, the rest from %d, want %d", have, have.RequestOffset(), test.rest)
			}
			of.Offset = test.rest
			err := f.Begin(of)
			for sent := test.sent; err == nil && sent != ""; sent = sent[min(test.writes, len(sent)):] {
				_, err = f.Write([]byte(sent[:min(test.writes, len(sent))]))
			}
			then := f.State().Offset
			if err == nil {
				err = f.Commit()
			}
			if !errors.Is(err, test.err) || then != test.then {
				t.Fatalf("%v and %d bytes, want %v, %d", err, then, test.err, test.then)
			}
			if errors.Is(err, fetch.Mismatch) { // the complete object must be accepted now
				of.Offset = 0
				f.Begin(of)
				f.Write([]byte(body))
				err = f.Commit()
			}
			if err == nil && content(t, path) != body {
				t.Error("the file is another")
			}
		})
	}
}
