package warc

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestPackPages packs an archive whose first seed is not a page, and whose
// second seed redirects to a page with a gzip body.
func TestPackPages(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	get := func(c Capture, head, body string) {
		mustWrite(t, w, c.Response(strings.NewReader("HTTP/1.1 "+head+"\r\n\r\n"+body)))
	}
	var body bytes.Buffer
	z := newNamed(&body)
	io.WriteString(z, "<title>The start</title>")
	z.Close()
	get(at("http://h.example/", 1), "301 Moved\r\nLocation: /start", "")
	get(at("http://h.example/start", 2), "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", body.String())
	get(at("http://h.example/start", 9), "200 OK\r\nContent-Type: text/html", "<title>Newer</title>")
	get(at("http://h.example/other", 3), "200 OK\r\nContent-Type: text/html", "<p>no title")
	mustWrite(t, w, at("gopher://h.example/1/", 4).Resource("application/gopher-menu", strings.NewReader(".\r\n")))
	mustWrite(t, w, at("gopher://h.example/0/file%09%09!", 4).Resource("application/gopher+-menu", strings.NewReader("+INFO\r\n")))
	mustWrite(t, w, at("gopher://h.example/0/file", 5).Resource("text/plain", strings.NewReader("text")))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	seeds := []string{"gopher://h.example/0/file", "HTTP://h.example#top", "gopher://h.example/1/",
		"http://none.example/", "%"}
	for name, tc := range map[string]struct {
		pkg                   Package
		pages, mainURL, mainD string
	}{
		"seeds": {Package{Seeds: seeds},
			`http://h.example/other  false,http://h.example/start The start true,http://h.example/start Newer true,` +
				`gopher://h.example/1/  true,`,
			"http://h.example/start", "2026-11-21T08:30:02Z"},
		"main page and seeds": {Package{Seeds: seeds[2:], main: packedPage{URL: "http://h.example/other"}},
			`http://h.example/other  false,http://h.example/start The start false,http://h.example/start Newer false,` +
				`gopher://h.example/1/  true,`,
			"http://h.example/other", ""},
		"no seeds": {Package{},
			`http://h.example/other  false,http://h.example/start The start false,http://h.example/start Newer false,` +
				`gopher://h.example/1/  false,`,
			"", ""},
	} {
		var b bytes.Buffer
		if err := a.Pack(&b, tc.pkg); err != nil {
			t.Fatal(err)
		}
		var d packageJSON
		if err := json.Unmarshal(partOf(t, b.Bytes(), "datapackage.json"), &d); err != nil {
			t.Fatal(err)
		}
		if d.MainPageURL != tc.mainURL || d.MainPageDate != tc.mainD {
			t.Errorf("%s: main page %q at %q, want %q at %q", name, d.MainPageURL, d.MainPageDate, tc.mainURL, tc.mainD)
		}
		var got strings.Builder
		in := json.NewDecoder(bytes.NewReader(partOf(t, b.Bytes(), "pages/pages.jsonl")))
		in.Decode(&struct{}{}) // the first line describes the list
		for {
			var p pageJSON
			if err := in.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			seed := " false,"
			if p.Seed {
				seed = " true,"
			}
			got.WriteString(p.URL + " " + p.Title + seed)
		}
		if got.String() != tc.pages {
			t.Errorf("%s: got  %s\nwant %s", name, got.String(), tc.pages)
		}
	}
	var b bytes.Buffer
	if err := a.Pack(&b, Package{Text: true}); err != nil {
		t.Fatal(err)
	}
	text := string(partOf(t, b.Bytes(), "pages/pages.jsonl"))
	if !strings.HasPrefix(text, `{"format":"json-pages-1.0","hasText":true,`) ||
		!strings.Contains(text, `,"text":"no title"}`) {
		t.Errorf("got pages with texts %s", text)
	}
}

// partOf returns a part of a zip file.
func partOf(t *testing.T, file []byte, name string) []byte {
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
