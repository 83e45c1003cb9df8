package mirror

import (
	"bufio"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base"
	"github.com/anyurl/fetch/internal/robots"
	"github.com/anyurl/fetch/uri"
)

// maxHops is how many redirects in a row are followed: what a client does.
const maxHops = 10

// redirect adds where an answer leads instead. It is as far from the seeds as
// the URL that was asked for, and where a seed leads is a seed.
func (g *growth) redirect(u uri.URI) {
	v := g.v
	text := canonical(u)
	mt := meta{Hops: v.meta.Hops + 1, Part: v.meta.Part, Guide: v.meta.Guide, Guess: v.meta.Guess, Named: v.meta.Named}
	switch {
	case mt.Hops > maxHops, text == canonical(v.url):
		v.out("too many redirects")
	case len(u.Unredacted()) > maxURL:
		v.out("the redirect leads to a URL that is too long")
	case !mirrored(g.m.schemeOf(u)):
		v.out("the redirect leads to " + u.Scheme() + ", which is not mirrored")
	case mt.Guide:
		g.put(u, text, mt, 0)
	case v.item.Depth == 0 && (g.m.trust.knows(v) || g.m.trust.near(u)):
		mt.Under = text
		g.m.scope.admit(u)
		if g.m.trust.knows(v) {
			g.m.trust.scope.admit(u)
		}
		g.put(u, text, mt, 0)
	default:
		why, off := g.m.scope.link(u, text, v.item.Depth, v.meta.Extra-1, mt)
		if mt.Extra = off; why != "" {
			v.out("the redirect leads to " + text + ": " + why)
			return
		}
		g.put(u, text, mt, v.item.Depth)
	}
}

// site adds the robots.txt of a site at its first page: it is part of what the
// site says, and its Sitemap lines lead on.
func (g *growth) site() {
	u := g.v.url
	if !g.v.scheme.Traits.Web || !g.v.sited || g.v.meta.Extra > 0 {
		return
	}
	if _, seen := g.m.origins.LoadOrStore(g.v.origin, true); seen {
		return
	}
	at, err := u.WithoutQuery().WithoutFragment().WithPath("/robots.txt")
	if err == nil {
		g.put(at, canonical(at), meta{Guide: true, Guess: true}, 0)
		g.added = 0 // it is no link
	}
}

// isRobots reports whether u, a URL of s, is a site's rules for robots.
func isRobots(s fetch.Scheme, u uri.URI) bool {
	_, asked := u.Query()
	return s.Traits.Web && u.Path() == "/robots.txt" && !asked
}

// sitemaps reads the Sitemap lines of a robots.txt.
func (g *growth) sitemaps(body io.Reader) {
	for lines := bufio.NewScanner(io.LimitReader(body, robots.MaxSize)); lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "\uFEFF"), ":")
		if !strings.EqualFold(strings.TrimSpace(name), "sitemap") {
			continue
		}
		if u, _, err := base.Location(g.v.url, strings.TrimSpace(value)); err == nil {
			g.guide(u)
		}
	}
}

// guide adds a sitemap. It may lie above what is mirrored; what it lists is
// held to the scope.
func (g *growth) guide(u uri.URI) {
	if g.m.Scope.Depth >= 0 && g.m.schemeOf(u).Traits.Web && len(u.Unredacted()) <= maxURL && g.m.scope.knows(u) {
		g.put(u, canonical(u), meta{Guide: true, Guess: true}, 0)
	}
}

// ways are the symbolic links on the way to a file.
type ways struct {
	At   string   `json:"at"`   // the path of the last one
	Real []string `json:"real"` // the folders that they led from, and at the end where the last one leads
}

// maxWays bounds them: the ways through a net of links are without number.
const maxWays = 8

// isOwn reports whether an entry is the folder of the archive itself: within the
// tree that it mirrors it would take itself in, and more with every run.
func (m *mirror) isOwn(e fetch.Entry) bool {
	if !m.schemeOf(e.URL).Traits.Files || e.Kind != fetch.Menu {
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
	own, err := m.root.Stat(".")
	return err == nil && os.SameFile(there, own)
}

// linkOf reports whether a line of a listing is a symbolic link, and its target
// where that is known.
func linkOf(e fetch.Entry) (target string, ok bool) {
	target, ok = e.Extra["link"]
	if e.Extra["type"] == "symlink" {
		target, ok = e.Extra["target"], true
	}
	return target, ok
}

// through is the way through a symbolic link, nil where it is not to be gone: it
// leads in a circle.
func (g *growth) through(at uri.URI, target string) *ways {
	if !g.m.FollowLinks {
		return nil
	}
	here, err := uri.Unescape(g.v.url.Path())
	if err != nil {
		return nil
	}
	var passed []string
	if w := g.v.meta.Ways; w != nil {
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
	if err != nil || len(passed) >= maxWays {
		return nil
	}
	return &ways{At: name, Real: append(passed, real)}
}
