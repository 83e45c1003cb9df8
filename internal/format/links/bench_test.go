package links

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/uri"
)

func BenchmarkExtract(b *testing.B) {
	small := "<html><head><title>x</title></head><body>" + strings.Repeat(`<p>Some text of a paragraph with <a href="/d/page.html">a link</a>.</p>`+"\n", 20) + "</body></html>"
	for _, c := range []struct{ name, media, file string }{
		{"small page", "text/html", ""}, {"page", "text/html", "testdata/page.html"}, {"style sheet", "text/css", "testdata/sheet.css"}, {"sitemap", "text/xml", "testdata/sitemap.xml"},
	} {
		body := []byte(small)
		if c.file != "" {
			one, err := os.ReadFile(c.file)
			if err != nil {
				b.Fatal(err)
			}
			body = bytes.Repeat(one, 20)
		}
		b.Run(c.name, func(b *testing.B) {
			base := uri.MustParse(here)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range Extract(schemeNamed, base, c.media, nil, bytes.NewReader(body)) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
		if !CanRewrite(c.media) {
			continue
		}
		b.Run("rewrite "+c.name, func(b *testing.B) {
			base := uri.MustParse(here)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := Rewrite(io.Discard, schemeNamed, base, c.media, nil, bytes.NewReader(body), func(Link) string { return "x" }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
