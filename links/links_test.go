package links_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
	internal "github.com/anyurl/fetch/internal/format/links"
	"github.com/anyurl/fetch/links"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// documents are one document of each format with all its links.
var documents = []struct {
	name, url, media, text string
	want                   []string
}{
	{"html", "http://h.test/d/", "text/html",
		`<base href=/b/><a href=x.html>x</a><img srcset="1.png 1x, 2.png 2x"><p style="background: url(3.png)">
		<a href="data:,a">no</a><a href="javascript:f()">no</a><a href="http:\\o.test\y">y</a><a rel=nofollow href=mailto:a@h.test>m</a>`,
		[]string{"page http://h.test/b/x.html a href", "requisite http://h.test/b/1.png img srcset", "requisite http://h.test/b/2.png img srcset",
			"requisite http://h.test/b/3.png p style url", "page http://o.test/y a href", "page mailto:a@h.test a href nofollow"}},
	{"css", "http://h.test/d/s.css", "text/css; charset=utf-8", `@import "a.css"; p { background: url(b.png) }`,
		[]string{"requisite http://h.test/d/a.css css @import", "requisite http://h.test/d/b.png css url"}},
	{"sitemap", "http://h.test/sitemap.xml", "application/xml", `<urlset><url><loc>http://h.test/1</loc></url></urlset>`,
		[]string{"page http://h.test/1 loc"}},
	{"feed", "http://h.test/feed", "application/rss+xml", `<rss><channel><item><link>http://h.test/1</link></item></channel></rss>`,
		[]string{"page http://h.test/1 link"}},
	{"no scheme of a browser", "gopher://h.test/0/x.html", "text/html", `<a href="/1/y">y</a>`, []string{"page gopher://h.test/1/y a href"}},
	{"no document", "http://h.test/x.png", "image/png", `<a href=y>`, nil},
}

func TestLinks(t *testing.T) {
	client := fetch.New(fetch.Options{}, schemes.All(schemes.Options{})...)
	defer client.Close()
	for _, d := range documents {
		base := uri.MustParse(d.url)
		var got, same []string
		for l, err := range links.Links(d.media, base, strings.NewReader(d.text)) {
			if err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
			got = append(got, text(l))
		}
		if !slices.Equal(got, d.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", d.name, got, d.want)
		}
		for l, err := range internal.Extract(client.Scheme, base, d.media, nil, strings.NewReader(d.text)) {
			if err != nil {
				t.Errorf("%s: %v", d.name, err)
			}
			same = append(same, text(links.Link{URL: l.URL, Kind: links.Kind(l.Kind), From: l.From, NoFollow: l.NoFollow}))
		}
		if !slices.Equal(got, same) {
			t.Errorf("%s: a Client with all schemes finds other links:\n%q\n%q", d.name, got, same)
		}
		if links.Supports(d.media) != (d.want != nil) {
			t.Errorf("Supports(%s) = %t", d.media, links.Supports(d.media))
		}
	}
}

func text(l links.Link) string {
	s := l.Kind.String() + " " + l.URL.String() + " " + l.From
	if l.NoFollow {
		s += " nofollow"
	}
	return s
}

// TestKinds checks that the kinds have the values of the internal package.
func TestKinds(t *testing.T) {
	for k, want := range map[links.Kind]internal.Kind{links.Page: internal.Page, links.Requisite: internal.Requisite,
		links.Frame: internal.Frame, links.Feed: internal.Feed, links.Sitemap: internal.Sitemap, links.Form: internal.Form} {
		if links.Kind(want) != k || k.String() != want.String() {
			t.Errorf("%v is %v", k, want)
		}
	}
}

func TestReadError(t *testing.T) {
	failed := errors.New("failed")
	r := iotest.ErrReader(failed)
	var got error
	for _, err := range links.Links("text/html", uri.MustParse("http://h.test/"), r) {
		got = err
	}
	if !errors.Is(got, failed) {
		t.Errorf("got %v", got)
	}
}
