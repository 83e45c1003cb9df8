package archive

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/internal/links"
	"github.com/anyurl/fetch/internal/media"
	"github.com/anyurl/fetch/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// Browse copies the tree of the archive at dir to the folder to, in which pages
// and style sheets lead to each other's copies, and to the network for what the
// archive does not hold. The archive itself stays what was brought.
func Browse(ctx context.Context, dir, to string) error {
	return exclusive(ctx, dir, func(a *Archive) error {
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		root, err := os.OpenRoot(to)
		if err != nil {
			return err
		}
		defer root.Close()
		b := &browser{a: a, ctx: ctx, root: root}
		return a.retrieved(ctx, func(it frontier.Item, _ frontier.State) error { return b.copy(it.LastCapture) })
	})
}

// browser makes a copy that leads to itself.
type browser struct {
	a    *Archive
	ctx  context.Context
	root *os.Root
}

func (b *browser) copy(c *frontier.Capture) error {
	if c.Path == "" {
		return nil
	}
	from, err := b.a.store.Open(c.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // in the attic
	}
	if err != nil {
		return err
	}
	defer from.Close()
	name := b.name(c)
	return replace(b.root, filepath.FromSlash(name), func(w io.Writer) error {
		base, err := uri.Parse(c.URL)
		if err != nil || !links.CanRewrite(c.Media) {
			_, err = io.Copy(w, from)
			return err
		}
		header := fetch.Header{{Name: "Content-Type", Value: c.Media}}
		return links.Rewrite(w, base, c.Media, header, from, func(l links.Link) string { return b.lead(name, l) })
	})
}

// lead returns the target of a link on the page at from in the copy: a file, or
// a URL of the network.
func (b *browser) lead(from string, l links.Link) string {
	key := frontier.KeyOf(Canonical(l.URL))
	found, err := b.a.frontier.NewestCaptures(b.ctx, []frontier.Key{key})
	c, ok := found[key]
	if err != nil || !ok || c.Path == "" {
		return l.URL.Unredacted()
	}
	return tree.Relative(from, b.name(&c))
}

// pages are the extensions by which a browser takes a file for a page.
var pages = []string{".html", ".htm", ".xhtml", ".xht"}

// name returns the path of a file in the copy. A page gets an extension that tells,
// where no other file has that name.
func (b *browser) name(c *frontier.Capture) string {
	name := tree.Upgrade(c.Path)
	if media.TrimParameters(c.Media) != "text/html" || slices.Contains(pages, strings.ToLower(path.Ext(c.Path))) {
		return name
	}
	if _, err := b.a.store.Stat(c.Path + ".html"); err == nil {
		return name
	}
	return name + ".html"
}
