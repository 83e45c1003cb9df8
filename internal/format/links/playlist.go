package links

import (
	"bufio"
	"io"
	"strings"

	"github.com/anyurl/fetch/internal/base/lazy"
)

// playlistURI matches the URI attribute of a tag in an HLS playlist.
var playlistURI = lazy.Regexp(`[:,]URI="([^"]*)"`)

// visitPlaylist finds the links in an HLS playlist (RFC 8216). They are
// segments, other playlists, keys and initialization sections.
func (w *walk) visitPlaylist(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxReference)
	for lines.Scan() && !w.stopped {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		switch {
		case strings.HasPrefix(line, "#EXT"):
			if m := playlistURI().FindStringSubmatch(line); m != nil {
				w.visitReference(m[1], Requisite, "playlist URI")
			}
		case line != "" && !strings.HasPrefix(line, "#"):
			w.visitReference(line, Requisite, "playlist")
		}
	}
	if err := lines.Err(); err != bufio.ErrTooLong {
		return err
	}
	return nil
}

// presentation finds the links in one element of a DASH presentation (ISO/IEC
// 23009-1). It skips URLs with template parameters such as $Number$.
func (f *feed) presentation() {
	for _, ref := range []string{f.attr["media"], f.attr["sourceurl"], f.attr["initialization"], f.attr["index"]} {
		f.visitSegment(ref)
	}
	if localName(f.name) == "baseurl" {
		f.visitSegment(strings.TrimSpace(f.text.String()))
	}
}

func (f *feed) visitSegment(ref string) {
	if ref != "" && !strings.Contains(ref, "$") && !strings.HasSuffix(ref, "/") {
		f.visit(ref, Requisite)
	}
}
