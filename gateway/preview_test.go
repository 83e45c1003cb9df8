package gateway

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/schemes"
)

// previewSamples is an archived directory with two texts, of which one has a
// capture.
var previewSamples = []sample{
	{"20240101", "ftp://p.example/", "text/x-ftp-list; dialect=unix; at=20240101000000",
		"-rw-r--r-- 1 0 0 12 Jan 29 2023 note.txt\r\n-rw-r--r-- 1 0 0 12 Jan 29 2023 lost.txt\r\n"},
	{"20240101", "ftp://p.example/note.txt", "text/plain", "first <line>\nsecond"},
}

// TestPreview opens the previews of texts of an archive and of a local folder.
func TestPreview(t *testing.T) {
	h := newLive(t, func(o *Options) {
		o.Archives = []Archive{{Name: "sample.warc.gz", Source: openSample(t, previewSamples...)}}
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "local.txt"), []byte("text of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	v := newVisitor(t, h)
	preview := func(page string) string {
		_, path, _ := strings.Cut(page, `<iframe src="`)
		path, _, _ = strings.Cut(path, `"`)
		return path
	}
	framed := []string{"X-Frame-Options: SAMEORIGIN", "frame-ancestors 'self'", "default-src 'none'"}
	archived := preview(get(h, "GET", root+"2024/ftp://p.example/").Body.String())
	if archived != root+"20240101000000;preview/ftp://p.example/note.txt" {
		t.Fatalf("the preview of an archive: %s\n%s", archived, get(h, "GET", root+"2024/ftp://p.example/").Body)
	}
	checkResponse(t, get(h, "GET", archived), 200, append(framed, "<pre>first &lt;line&gt;\nsecond</pre>"))
	checkResponse(t, get(h, "GET", strings.Replace(archived, "note", "lost", 1)), 404, append(framed, "The archive has no capture", "!<form", "!<nav"))
	local := preview(v.open("file://" + dir + "/").Body.String())
	checkResponse(t, v.get(local), 200, append(framed, "<pre>text of a file</pre>"))
	checkResponse(t, get(h, "GET", local), 403, append(framed, "!text of a file", "!<form"))
	checkResponse(t, v.get(strings.Replace(local, "local.txt", "lost.txt", 1)), 403, append(framed, "!<form")) // the signature is that of another URL
	checkResponse(t, v.get(signed(h, guard.Permission{Level: guard.Confirmed}, "file://"+dir+"/local.txt")), 200, []string{"X-Frame-Options: DENY"})
	if w := get(h, "GET", strings.Replace(archived, ";preview", ";preview=x", 1)); w.Code != http.StatusNotFound {
		t.Errorf("a preview with a value: %d", w.Code)
	}
}

// TestPreviewBrowser opens a preview in Chromium, which requests it only then.
func TestPreviewBrowser(t *testing.T) {
	t.Parallel()
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := newHandler(t, func(o *Options) {
		o.Address, o.Schemes = l.Addr(), schemes.All(schemes.Options{})
		o.Archives[0].Source = openSample(t, previewSamples...)
	})
	serve(t, h, l)
	p := browsertest.Start(t, l.Addr().String()).Open("http://" + l.Addr().String() + root + "2024/ftp://p.example/")
	loaded := "performance.getEntriesByType('resource').filter(e => e.name.includes(';preview/')).length"
	if n := p.Eval(loaded); n != "0" {
		t.Errorf("%s previews are loaded before a click", n)
	}
	p.Eval("void document.querySelector('summary').click()")
	p.Wait("document.querySelector('iframe').contentDocument.querySelector('pre')?.textContent == 'first <line>\\nsecond'")
	p.Wait(loaded + " == 1") // Chromium adds the entry after the frame has its content
}
