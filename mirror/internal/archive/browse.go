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
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/regularfile"
	"github.com/anyurl/fetch/internal/format/coding"
	"github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// Browsing contains the settings of Browse. All fields are required.
type Browsing struct {
	Rules  IdentityRules // the rules of the last run
	Scheme func(name string) fetch.Scheme
	Seeds  []string // the seeds of the last run

	// Origin returns the listing and the time of a message, like Mail.Origin.
	Origin func(frontier.Item) (listing string, received time.Time)

	// Target returns the target of a redirect, or "". The parameter meta is
	// Item.Meta of the redirected URL.
	Target func(meta []byte) string
}

// Browse copies the tree of the archive in the directory dir to the directory
// target, for reading in a web browser. In the copied pages and style sheets,
// links to archived objects lead to their copies. All other links lead to the
// network. Files with a content coding are decoded. Listings, messages and
// texts that do not come from the web also get HTML pages. Browse does not
// change the archive.
func Browse(ctx context.Context, dir, target string, o Browsing) error {
	return withReadLock(ctx, dir, func(a *Archive) error {
		if err := regularfile.MakeFolder(target); err != nil {
			return err
		}
		root, err := os.OpenRoot(target)
		if err != nil {
			return err
		}
		defer root.Close()
		b := &browser{a: a, ctx: ctx, root: root, Browsing: o}
		if err := b.collectMessages(); err != nil {
			return err
		}
		err = a.eachRetrieved(ctx, func(it frontier.Item, _ frontier.State) error {
			if err := b.copyFile(it.LastCapture); err != nil {
				return err
			}
			return b.writePages(it.LastCapture)
		})
		if err == nil {
			err = replaceFile(root, browseStyle, func(w io.Writer) error {
				_, err := w.Write(render.StyleSheet())
				return err
			})
		}
		if err != nil {
			return err
		}
		return errors.Join(b.writeIndex(o.Seeds), regularfile.SyncFolder(root))
	})
}

// A browser is the state of one call of Browse.
type browser struct {
	a    *Archive
	ctx  context.Context
	root *os.Root
	Browsing

	messages map[string][]messageRef // messages of each newsgroup and mailbox
	groups   map[string]frontier.Key // listings of newsgroups
	parts    map[string]string       // paths of the parts of the current message
}

func (b *browser) copyFile(c *frontier.Capture) error {
	if c.Path == "" {
		return nil
	}
	from, err := b.a.store.Open(c.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // the file is in the attic
	}
	if err != nil {
		return err
	}
	defer from.Close()
	coded := b.coding(c, from)
	err = b.writeFile(c, from, coded)
	if err == nil || coded == "" || fetch.FaultOf(err) == fetch.Local || fetch.FaultOf(err) == fetch.DiskFull {
		return err
	}
	return b.writeFile(c, from, "") // the file is truncated or has no coding
}

// writeFile copies the file of c to the target directory. If coded is not
// empty, it removes this content coding.
func (b *browser) writeFile(c *frontier.Capture, from io.ReadSeeker, coded string) error {
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return err
	}
	body := io.Reader(from)
	if coded != "" {
		body = coding.NewReader(io.NopCloser(from), []string{coded}, nil)
	}
	name := b.copyPath(c)
	return replaceFile(b.root, filepath.FromSlash(name), func(w io.Writer) error {
		base, err := uri.Parse(c.URL)
		if err != nil || !links.CanRewrite(c.Media) {
			_, err = io.Copy(w, body)
			return err
		}
		header := fetch.Header{{Name: "Content-Type", Value: c.Media}}
		return links.Rewrite(w, b.Scheme, base, c.Media, header, body, func(l links.Link) string { return b.target(name, l) })
	})
}

// coding returns the content coding of the file of c, or "". Only files of the
// web have codings. A file that is compressed itself, such as file.tar.gz, has
// none.
func (b *browser) coding(c *frontier.Capture, file io.Reader) string {
	scheme, _, _ := strings.Cut(c.URL, ":")
	if !b.Rules.IsWeb(scheme) {
		return ""
	}
	if bare := media.TrimParameters(c.Media); bare == "" || bare == "application/octet-stream" || media.IsCompressed(c.Media, c.Path) {
		return ""
	}
	start := make([]byte, 4<<10)
	n, _ := io.ReadFull(file, start) // writeFile returns the same error
	return coding.Detect(start[:n])
}

// target returns the URL that replaces a link in a copied page. This is the
// relative path of a copy, or the absolute URL if there is no copy. The result ""
// means that the link remains unchanged. The parameter from is the path of the
// page.
func (b *browser) target(from string, l links.Link) string {
	if l.Template {
		return "" // scripts of the copy read the template
	}
	c, ok := b.captureOf(l.URL)
	switch {
	case !ok:
		return l.URL.Unredacted()
	case l.Kind == links.Requisite:
		return tree.Relative(from, b.copyPath(&c))
	}
	return tree.Relative(from, b.pagePath(&c, 1))
}

// maxRedirects is the maximum number of redirects that captureOf follows.
const maxRedirects = 10

// captureOf returns the newest capture of the object that u names, or that a
// redirect of u names. The result ok is false if there is no copy of the object.
func (b *browser) captureOf(u uri.URI) (c frontier.Capture, ok bool) {
	for range maxRedirects + 1 {
		if c, ok = b.newestCapture(u); !ok {
			return c, false
		}
		if c.Path != "" {
			_, err := b.a.store.Stat(c.Path) // fails if the file is in the attic
			return c, err == nil
		}
		metas, err := b.a.frontier.Metas(b.ctx, []frontier.Key{c.Key})
		if err != nil {
			return c, false
		}
		if u, err = uri.Parse(b.Target(metas[c.Key])); err != nil {
			return c, false
		}
	}
	return c, false
}

// newestCapture returns the newest capture of u.
func (b *browser) newestCapture(u uri.URI) (c frontier.Capture, ok bool) {
	text := Canonical(u)
	keys := []frontier.Key{frontier.KeyOf(text), b.Rules.KeyOf(text)}
	found, err := b.a.frontier.NewestCaptures(b.ctx, keys)
	if err != nil {
		return c, false
	}
	if c, ok = found[keys[0]]; !ok { // the URL has a parameter that the rules ignore
		c, ok = found[keys[1]]
	}
	if !ok && b.isNews(text) { // the group may be archived under the scheme nntp
		key := b.groups[b.boxOf(text)]
		if found, err = b.a.frontier.NewestCaptures(b.ctx, []frontier.Key{key}); err == nil {
			c, ok = found[key]
		}
	}
	return c, ok
}

// pageExtensions lists the file extensions that a web browser displays as HTML.
var pageExtensions = []string{".html", ".htm", ".xhtml", ".xht"}

// copyPath returns the path of the copied file of c in the target directory. If
// an HTML page has another extension, copyPath adds the extension .html. It adds
// "~" too while the tree has a file with that name.
func (b *browser) copyPath(c *frontier.Capture) string {
	name := tree.Upgrade(c.Path)
	if media.TrimParameters(c.Media) != "text/html" || slices.Contains(pageExtensions, strings.ToLower(path.Ext(c.Path))) {
		return name
	}
	mark := ""
	for {
		if _, err := b.a.store.Stat(c.Path + mark + ".html"); err != nil {
			return name + mark + ".html"
		}
		mark += "~"
	}
}
