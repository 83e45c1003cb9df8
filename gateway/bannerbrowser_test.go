package gateway

import (
	"testing"

	"github.com/anyurl/fetch/internal/test/browsertest"
)

// TestBanner checks the position of the banner in Chromium, and collapses it with
// the keyboard.
func TestBanner(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Chromium")
	}
	t.Parallel()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	styles := "<!DOCTYPE html><title>x</title><style>body{margin:50px 80px;font-size:3em}details,div,summary,span,a{display:none;margin:9em}</style>"
	h := newHandler(t, func(o *Options) {
		o.Address = l.Addr()
		o.Archives[0].Source = openSample(t,
			sample{"20240101", "http://a.example/styled", "", ok("text/html", styles+"<body><p id=text>archived<p style='height:3000px'>long")},
			sample{"20240101", "http://a.example/xhtml", "", ok("application/xhtml+xml",
				"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body><p id='text'>archived</p></body></html>")},
			sample{"20240101", "http://a.example/gone", "", "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p id=text>gone"})
	})
	serve(t, h, l)
	base := "http://" + l.Addr().String() + root + "2024/http://a.example/"
	p := browsertest.Start(t, l.Addr().String()).Open(base + "styled")
	const bar = "document.querySelector('#fetch-banner').getBoundingClientRect()"
	for _, page := range []string{"styled", "xhtml", "gone"} {
		p.Go(base + page)
		p.Wait("(r => r.left == 0 && r.top == 0 && r.height == 33 && r.width == document.documentElement.clientWidth)(" + bar + ")")
		p.Wait("document.querySelector('#text').getBoundingClientRect().top >= 33")
		p.Wait("[...document.querySelectorAll('#fetch-banner a')].map(a => a.textContent).join() == 'fetch,sample.warc.gz,all captures,bytes'")
		p.Wait("[...document.querySelectorAll('#fetch-banner a')].every(a => a.getBoundingClientRect().height > 0)")
	}
	p.Wait("document.querySelector('summary').textContent.includes('404 Not Found')")
	p.Go(base + "styled")
	p.Eval("scrollTo(0, 1000)")
	p.Wait("scrollY == 1000 && " + bar + ".top == 0")
	p.Eval("scrollTo(0, 0)")
	p.Press("\t")
	p.Wait("document.activeElement.localName == 'summary' && getComputedStyle(document.activeElement).outlineStyle == 'solid'")
	top := p.Eval("document.querySelector('#text').getBoundingClientRect().top")
	p.Press("\r")
	p.Wait("!document.querySelector('#fetch-banner').open && " + bar + ".left > 100")
	if after := p.Eval("document.querySelector('#text').getBoundingClientRect().top + 33"); after != top {
		t.Errorf("the page begins at %s, and 33 pixels lower with the banner: %s", after, top)
	}
	p.SetWidth(360)
	p.Go(base + "styled")
	p.Wait("document.documentElement.scrollWidth <= 360 && " + bar + ".width == 360")
}
