package dirlist_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/uri"
)

// FuzzFTPList checks that each line of a listing results in one entry, in
// order, and that no entry has a URL outside the directory.
func FuzzFTPList(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no listings in testdata")
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		listing := string(archive.Files[1].Data)
		f.Add(listing)
		for line := range strings.Lines(listing) {
			f.Add(line)
		}
	}
	base := uri.MustParse("ftp://h/dir/")
	f.Fuzz(func(t *testing.T, listing string) {
		for _, d := range []dirlist.Dialect{dirlist.MLSD, dirlist.List, dirlist.Names, dirlist.Unix, dirlist.DOS, dirlist.EPLF, dirlist.VMS} {
			media := "text/x-ftp-list; at=20240301120000; dialect=" + string(d)
			var lines []string
			for e, err := range dirlist.Menu(base, media, strings.NewReader(listing)) {
				if fetch.FaultOf(err) == fetch.Protocol {
					return // line longer than the limit
				}
				if err != nil {
					t.Fatalf("%s: %v", d, err)
				}
				lines = append(lines, e.Raw)
				check(t, d, e)
			}
			got, want := strings.Split(strings.Join(lines, "\n"), "\n"), linesOf(listing)
			got, want = slices.DeleteFunc(got, endsInDot), slices.DeleteFunc(want, endsInDot) // "." and ".." are no entries
			if d != dirlist.MLSD && d != dirlist.Names {
				got, want = slices.DeleteFunc(got, mayBeHeading), slices.DeleteFunc(want, mayBeHeading)
			}
			if got, want := strings.Join(got, "\n"), strings.Join(want, "\n"); got != want {
				t.Errorf("%s: lines\n got %q\nwant %q", d, got, want)
			}
		}
	})
}

func endsInDot(text string) bool { return strings.HasSuffix(text, ".") }

// mayBeHeading reports whether a parser of LIST may skip a line. Such a line is
// blank or matches no format of an entry.
func mayBeHeading(text string) bool {
	words := strings.Fields(strings.ToLower(text))
	return len(words) == 0 || slices.Contains([]string{"total", "grand", "directory", "volume"}, words[0]) ||
		len(words) > 1 && (words[1] == "file(s)" || words[1] == "dir(s)")
}

func check(t *testing.T, d dirlist.Dialect, e fetch.Entry) {
	if _, err := e.MarshalJSON(); err != nil || e.Size < -1 {
		t.Errorf("%s: size %d, time %v, %v", d, e.Size, e.Time, err)
	}
	if (e.Kind == fetch.Info) != e.URL.IsZero() {
		t.Errorf("%s: %q: got kind %v with URL %v", d, e.Raw, e.Kind, e.URL)
	}
	if e.Kind == fetch.Info {
		return
	}
	segment, ok := strings.CutPrefix(e.URL.Unredacted(), "ftp://h/dir/")
	segment = strings.TrimSuffix(segment, "/")
	if !ok || segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, "/;?#") {
		t.Errorf("%s: %q: got URL %v", d, e.Raw, e.URL)
	}
	name, err := uri.Unescape(segment)
	if err != nil || strings.ContainsAny(name, "/\r\n\x00") {
		t.Errorf("%s: %q: got URL %v with the name %q", d, e.Raw, e.URL, name)
	}
}

// linesOf returns the lines of a listing without line ends.
func linesOf(listing string) (lines []string) {
	for line := range strings.Lines(listing) {
		if text, ok := strings.CutSuffix(line, "\n"); ok {
			line = strings.TrimSuffix(text, "\r")
		}
		lines = append(lines, line)
	}
	return lines
}
