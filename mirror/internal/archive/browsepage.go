package archive

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/internal/format/rfc822"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/tree"
	"github.com/anyurl/fetch/uri"
)

// Names of the files that Browse adds to the copies.
const (
	browseIndex = "index.html"
	browseStyle = "style.css"
)

// view returns a render.View of the object of c, without its body. The result
// ok is false if the object needs no page, because a browser displays the copy
// itself.
func (b *browser) view(c *frontier.Capture) (v render.View, ok bool) {
	u, err := uri.Parse(c.URL)
	if err != nil {
		return v, false
	}
	resp := &fetch.Response{URL: u, Media: c.Media, Size: c.Size, Time: c.Modified, Code: c.Code}
	resp.Kind.UnmarshalText([]byte(c.Kind)) // returns no error
	v = render.View{URL: u, Response: resp, Scheme: b.Scheme(u.Scheme()), Schemes: b.Scheme, Problem: func(err error) string {
		return "The file in the archive is damaged (" + fetch.FaultOf(err).Error() + ")."
	}}
	if v.Scheme.Traits.Web || c.Path == "" {
		return v, false
	}
	switch v.Form() {
	case render.Listing, render.Message, render.Text, render.Gemtext:
		return v, true
	}
	return v, false
}

// pagePath returns the path of the page with the given number that shows the
// object of c. If the object has no page, it returns the path of its copy.
func (b *browser) pagePath(c *frontier.Capture, number int) string {
	v, ok := b.view(c)
	if !ok {
		return b.copyPath(c)
	}
	name := tree.Upgrade(c.Path)
	dir, base := path.Split(name)
	if listing := tree.ListingName(base); listing != "" {
		base = "index" + strings.TrimPrefix(base, listing)
	} else if v.Form() == render.Gemtext {
		base = strings.TrimSuffix(base, ".gmi")
	} else if strings.HasPrefix(base, "index") && v.Form() != render.Listing {
		base += "~" // a name that differs from the page of the listing
	}
	if number > 1 {
		base += "~" + strconv.Itoa(number)
	}
	for {
		name = dir + base + ".html"
		if _, err := b.a.store.Stat(name); err != nil {
			return name
		}
		base += "~" // the archive has a file with this name
	}
}

// writePages writes the pages that show the object of c. It writes no page if a
// browser displays the copy of the object itself.
func (b *browser) writePages(c *frontier.Capture) error {
	v, ok := b.view(c)
	if !ok {
		return nil
	}
	var entries *entrySource
	switch {
	case v.Form() == render.Message:
		if err := b.writeParts(c); err != nil {
			return err
		}
	case v.Form() == render.Listing:
		body, err := b.a.Reopen(b.ctx, c)
		if err != nil {
			return skipMissing(err)
		}
		defer body.Close()
		seq := v.Scheme.Menu(v.URL, c.Media, body)
		if refs := b.messages[b.boxOf(c.URL)]; len(refs) > 0 {
			seq = b.messageEntries(refs)
		}
		entries = newEntrySource(seq)
		defer entries.stop()
		v.Scheme.Menu = entries.menu
	}
	for number := 1; ; number++ {
		rest, err := b.writePage(c, v, number)
		if err != nil || !rest.More {
			return err
		}
		entries.unread(rest.Shown)
		v.Skipped += rest.Shown
	}
}

// skipMissing returns err, or nil if err means that a file is missing. Such a
// file is in the attic.
func skipMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// writePage writes the page with the given number for the object of c.
func (b *browser) writePage(c *frontier.Capture, v render.View, number int) (rest render.Rest, err error) {
	body, err := b.a.Reopen(b.ctx, c)
	if err != nil {
		return rest, skipMissing(err)
	}
	defer body.Close()
	name := b.pagePath(c, number)
	resp := *v.Response
	resp.Body = body
	v.Response, v.Number = &resp, number
	v.Links = pageLinks{b, c, v.URL, name}
	v.Page = b.page("", name)
	v.Page.Banner = &render.Banner{Label: "Archived object", URL: v.URL.String(), Facts: []render.Fact{
		{Name: "Archived", Value: render.FormatDate(c.Time), Machine: c.Time.UTC().Format(time.RFC3339)}}}
	err = replaceFile(b.root, filepath.FromSlash(name), func(w io.Writer) (err error) {
		rest, err = v.WritePage(b.ctx, w)
		return errors.Join(err, b.ctx.Err())
	})
	return rest, err
}

// page returns the parts that all pages have in common, for the page at the
// path name.
func (b *browser) page(title, name string) render.Page {
	p := render.Page{StyleSheet: tree.Relative(name, browseStyle),
		Trail: []render.Link{{Name: "Archive", Path: tree.Relative(name, browseIndex)}}}
	p.SetTitle(title)
	return p
}

// pageLinks creates the relative links in a page for package render.
type pageLinks struct {
	*browser
	capture *frontier.Capture
	url     uri.URI
	path    string // path of the page
}

// Page returns the relative path of the page or the copy of u. If u is not in
// the archive, it returns u itself, or "" if u has the same scheme and host as
// the page.
func (l pageLinks) Page(u uri.URI) string {
	if c, ok := l.captureOf(u); ok {
		return tree.Relative(l.path, l.pagePath(&c, 1))
	}
	if u.Scheme() == l.url.Scheme() && u.Host() == l.url.Host() {
		return ""
	}
	return u.WithoutUserinfo().Unredacted()
}

func (l pageLinks) Bytes(u uri.URI) string { return tree.Relative(l.path, l.copyPath(l.capture)) }

func (l pageLinks) Inline(u uri.URI) string { return l.Bytes(u) }

// Preview returns no link, because the copy has no pages with first lines.
func (l pageLinks) Preview(uri.URI) string { return "" }

func (l pageLinks) Part(u uri.URI, number string) string {
	if name, ok := l.parts[number]; ok {
		return tree.Relative(l.path, name)
	}
	return ""
}

// Sorted returns the path of a page of a long listing. It returns "" for a
// column, because a static listing cannot be sorted by it.
func (l pageLinks) Sorted(column string, number int) string {
	if column != "" {
		return ""
	}
	return tree.Relative(l.path, l.pagePath(l.capture, number))
}

func (l pageLinks) Query(u uri.URI) (action string, hidden []render.Field, ok bool) {
	return "", nil, false
}

// activeExtensions lists extensions of files that browsers or web servers
// execute. Parts of messages do not get these extensions.
var activeExtensions = []string{
	".html", ".htm", ".xhtml", ".xht", ".shtml", ".svg", ".svgz", ".xml", ".mht", ".mhtml", ".php", ".phtml", ".phar", ".cgi",
	".pl", ".py", ".rb", ".asp", ".aspx", ".jsp", ".js", ".mjs", ".css", ".htaccess", ".htc", ".swf",
}

// maxParts is the maximum number of parts of a message that are written as
// files.
const maxParts = 100

// writeParts writes the parts of a message that its page does not show as text.
// It stores their paths in b.parts.
func (b *browser) writeParts(c *frontier.Capture) error {
	b.parts = map[string]string{}
	message, err := b.a.Reopen(b.ctx, c)
	if err != nil {
		return skipMissing(err)
	}
	defer message.Close()
	for p, err := range rfc822.Parts(message) {
		if err != nil || len(b.parts) == maxParts {
			return b.ctx.Err() // the page describes the error
		}
		disposition := p.Header.Get("Content-Disposition")
		if media.TrimParameters(p.Media) == "text/plain" && !strings.HasPrefix(strings.ToLower(disposition), "attachment") {
			continue
		}
		body, err := p.Body(func(string, ...any) {})
		if err != nil {
			continue // the page describes the error
		}
		file := p.Number + "-" + render.PartName(p)
		if slices.ContainsFunc(activeExtensions, func(e string) bool { return strings.Contains(strings.ToLower(file)+".", e+".") }) {
			file += ".txt"
		}
		name := tree.Upgrade(c.Path) + ".parts/" + tree.Name(file)
		var failed error
		err = replaceFile(b.root, filepath.FromSlash(name), func(w io.Writer) error {
			_, failed = io.Copy(w, body)
			return failed
		})
		if err != nil && failed == nil {
			return err
		}
		if err == nil {
			b.parts[p.Number] = name
		}
	}
	return nil
}
