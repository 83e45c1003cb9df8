package mirror

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// maxWays bounds them: the ways through a net of links are without number.
const maxSymlinks = 8

// isOwn reports whether an entry is the folder of the archive itself: within the
// tree that it mirrors it would take itself in, and more with every run.
func (c *crawl) isArchive(e fetch.Entry) bool {
	if !c.schemeOf(e.URL).Traits.Files || e.Kind != fetch.Menu {
		return false
	}
	name, err := uri.Unescape(e.URL.Path())
	if err != nil {
		return false
	}
	there, err := os.Stat(filepath.FromSlash(name))
	if err != nil {
		return false
	}
	own, err := c.archive.Stat()
	return err == nil && os.SameFile(there, own)
}

// linkOf reports whether a line of a listing is a symbolic link, and its target
// where that is known.
func symlinkTarget(e fetch.Entry) (target string, ok bool) {
	target, ok = e.Extra["link"]
	if e.Extra["type"] == "symlink" {
		target, ok = e.Extra["target"], true
	}
	return target, ok
}

// through returns the way through a symbolic link. It is nil if the link is not
// followed, because it leads in a circle, for one.
func (d *discovery) followSymlink(at uri.URI, target string) *symlinkPath {
	if !d.c.o.FollowLinks {
		return nil
	}
	here, err := uri.Unescape(d.v.url.Path())
	if err != nil {
		return nil
	}
	var passed []string
	if w := d.v.meta.Symlinks; w != nil {
		last := len(w.Real) - 1
		passed, here = w.Real[:last], path.Join(w.Real[last], strings.TrimPrefix(here, w.At))
	}
	here = path.Clean("/" + here)
	real := path.Clean(target)
	if !path.IsAbs(real) {
		real = path.Join(here, target)
	}
	passed = append(passed[:len(passed):len(passed)], here)
	for _, p := range passed {
		if real == p || real == "/" || strings.HasPrefix(p, real+"/") {
			return nil
		}
	}
	name, err := uri.Unescape(at.Path())
	if err != nil || len(passed) >= maxSymlinks {
		return nil
	}
	return &symlinkPath{At: name, Real: append(passed, real)}
}
