package mirror

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// maxSymlinks is the maximum number of symbolic links in a path. Without a
// limit, links to parent directories would create an infinite number of paths.
const maxSymlinks = 8

// isArchive reports whether e is the directory of the archive. A mirror of a
// local directory must not copy its own archive.
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

// symlinkTarget reports whether e is a symbolic link, and returns its target.
// The target is empty if the listing does not contain it.
func symlinkTarget(e fetch.Entry) (target string, ok bool) {
	target, ok = e.Extra["link"]
	if e.Extra["type"] == "symlink" {
		target, ok = e.Extra["target"], true
	}
	return target, ok
}

// followSymlink returns the symbolic links in the path of link, including link.
// It returns nil if link must not be followed, for example because it is part
// of a cycle.
func (d *discovery) followSymlink(link uri.URI, target string) *symlinkPath {
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
	name, err := uri.Unescape(link.Path())
	if err != nil || len(passed) >= maxSymlinks {
		return nil
	}
	return &symlinkPath{At: name, Real: append(passed, real)}
}
