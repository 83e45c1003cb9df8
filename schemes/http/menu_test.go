package http_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/uri"
)

func entries(t testing.TB, base, media string, r io.Reader) (list []fetch.Entry, err error) {
	t.Helper()
	for e, err := range http.Schemes(http.Options{})[0].Menu(uri.MustParse(base), media, r) {
		if err != nil {
			return list, err
		}
		list = append(list, e)
	}
	return list, nil
}

func TestAutoindex(t *testing.T) {
	minute := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	second, day := minute.Add(5*time.Second), minute.Truncate(24*time.Hour)
	for _, test := range []struct {
		file, base string
		time       time.Time
		large      int64
		rounded    string
		small      int64
	}{
		{"nginx", "http://h/x/", minute, 123456, "", 5},
		{"apache-plain", "http://h/", time.Time{}, -1, "", -1},
		{"apache-fancy", "http://h/fancy/", minute, -1, "121K", 5},
		{"apache-table", "http://h/table/", minute, -1, "121K", 5},
		{"lighttpd", "http://h/", second, -1, "120.5K", -1},
		{"python", "http://h/", time.Time{}, -1, "", -1},
		{"busybox", "http://h/x/", second, 123456, "", 5},
		{"caddy", "http://h/", second, 123456, "", 5},
		{"h2o", "http://h/", time.Time{}, -1, "", -1},
		{"iis", "http://h/x/", minute, 123456, "", 5},
		{"mini-httpd", "http://h/", minute, 123456, "", 5},
		{"thttpd", "http://h/x/", day, 123456, "", 5},
		{"webfs", "http://127.0.0.1:28101/", day, -1, "120K", 5},
		{"weborf", "http://h/", second, -1, "120K", 5},
	} {
		t.Run(test.file, func(t *testing.T) {
			f, err := os.Open("testdata/autoindex/" + test.file + ".html")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			list, err := entries(t, test.base, "text/html; charset=utf-8", f)
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(list, func(a, b fetch.Entry) int { return strings.Compare(a.Name, b.Name) })
			var names []string
			for _, e := range list {
				names = append(names, e.Name+" "+e.Kind.String())
			}
			sub := "sub menu"
			if test.file == "h2o" || test.file == "mini-httpd" { // the listing has no slash after directories
				sub = "sub document"
			}
			if got, want := strings.Join(names, "|"), "100%.txt document|b & c <1>.bin document|motd.txt document|"+sub+"|ü.txt document"; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			large, small := list[1], list[2]
			if list[3].Kind == fetch.Document {
				list[3].Size = -1
			}
			if large.Size != test.large || large.Extra["size"] != test.rounded || small.Size != test.small || !small.Time.Equal(test.time) || list[3].Size != -1 {
				t.Errorf("got %+v and %+v", large, small)
			}
			if got := strings.ToUpper(large.URL.String()); got != strings.ToUpper(test.base+"b%20%26%20c%20%3C1%3E.bin") && got != strings.ToUpper(test.base+"b%20&%20c%20%3C1%3E.bin") {
				t.Errorf("URL %s", large.URL)
			}
		})
	}
}

func TestAutoindexForeignLinks(t *testing.T) {
	page := `<title>Index of /d/</title><a href="/d/in">in</a><a href="../">up</a><a href="/">root</a><a href="sub/deep">deep</a>
		<a href="?C=N">sort</a><a href="#top">top</a><a href="http://other/d/x">other</a><a href="https://h/d/x">other scheme</a><a href="in%2Fx">slash</a>
		<a href="%2e%2e">dots</a><a href="a b">space</a><a href="javascript:x">js</a><a>none</a><a href="./">self</a><a href="x?y">query</a>`
	list, err := entries(t, "http://u:s3cret@h/d/", "text/html", strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name+"="+e.URL.Unredacted())
	}
	if got, want := strings.Join(got, " | "), "in=http://h/d/in | in%2Fx=http://h/d/in%2Fx | a b=http://h/d/a%20b"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSitemap(t *testing.T) {
	const text = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc> http://h/a?b&amp;c </loc><lastmod>2005-01-01</lastmod><changefreq>monthly</changefreq><priority>0.8</priority></url>
<url><loc><![CDATA[http://h/b]]></loc><lastmod>2004-12-23T18:00:15+01:00</lastmod></url>
<sm:url><sm:loc>http://h/c</sm:loc></sm:url><url><lastmod>2005</lastmod></url><url><loc>http://[x/</loc></url></urlset>`
	list, err := entries(t, "http://h/sitemap.xml", "application/xml", strings.NewReader(text))
	if err != nil || len(list) != 3 {
		t.Fatalf("got %+v, %v", list, err)
	}
	if list[0].URL.String() != "http://h/a?b&c" || list[0].Time.Format(time.DateOnly) != "2005-01-01" || list[0].Extra["priority"] != "0.8" {
		t.Errorf("got %+v", list[0])
	}
	if list[1].URL.String() != "http://h/b" || list[1].Time.Unix() != 1103821215 || list[2].URL.String() != "http://h/c" {
		t.Errorf("got %+v, %+v", list[1], list[2])
	}
	list, err = entries(t, "http://h/", "text/xml", strings.NewReader("<sitemapindex><sitemap><loc>http://h/s.xml</loc></sitemap></sitemapindex>"))
	if err != nil || len(list) != 1 || list[0].Kind != fetch.Menu {
		t.Errorf("index: got %+v, %v", list, err)
	}
}

// TestSitemapBomb checks that a gzip file with an excessive decoded size is
// rejected.
func TestSitemapBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("compresses 50 MB")
	}
	list, err := entries(t, "http://h/s.xml.gz", "application/gzip", bytes.NewReader(encode(t, "gzip", []byte("<urlset><url><loc>http://h/a</loc></url>"+strings.Repeat("<!--"+strings.Repeat("x", 10_000)+"-->", 5000)))))
	if len(list) != 1 || !errors.Is(err, fetch.Bomb) {
		t.Errorf("%d entries, %v", len(list), err)
	}
}

// TestKind checks that the start of a body determines its kind and media type,
// and that the body is unchanged.
func TestKind(t *testing.T) {
	index := "<html><title>Index of /d/</title><a href=\"x\">x</a>"
	for _, test := range []struct {
		name, url, media, body string
		kind                   fetch.Kind
		want                   string
	}{
		{"listing", "http://h/d/", "text/html", index, fetch.Menu, "text/html"},
		{"page", "http://h/d/", "text/html", "<html>hello", fetch.Document, "text/html"},
		{"page about a listing", "http://h/d", "text/html", index, fetch.Document, "text/html"},
		{"sitemap", "http://h/sitemap.xml", "application/xml", "<urlset>", fetch.Menu, "application/xml"},
		{"sitemap in gzip", "http://h/sitemap.xml.gz", "application/octet-stream", string(encode(t, "gzip", []byte("<urlset>"+strings.Repeat("<url><loc>http://h/a</loc></url>", 9)))), fetch.Menu, "application/octet-stream"},
		{"gzip of another document", "http://h/x.xml.gz", "application/gzip", string(encode(t, "gzip", []byte("<a/>"))), fetch.Document, "application/gzip"},
		{"invalid gzip", "http://h/x.xml.gz", "application/x-gzip", "<urlset>", fetch.Document, "application/x-gzip"},
		{"xml", "http://h/x", "text/xml", "<a/>", fetch.Document, "text/xml"},
		{"no type", "http://h/x", "", "%PDF-1.4", fetch.Document, "application/pdf"},
		{"no type, unknown content", "http://h/x", "", "\x00\x01", fetch.Document, ""},
		{"no type, empty body", "http://h/x", "", "", fetch.Document, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			head := "HTTP/1.1 200 OK\r\n"
			if test.media != "" {
				head += "Content-Type: " + test.media + "\r\n"
			}
			s := &script{replies: [][]string{{head + sprintf("Content-Length: %d\r\n\r\n%s", len(test.body), test.body)}}}
			resp, body, err := get(t, s.newClient(t, http.Options{}), newRequest(test.url))
			if err != nil || body != test.body || resp.Kind != test.kind || resp.Media != test.want {
				t.Errorf("got %q, %v, media %q, %v", body, resp.Kind, resp.Media, err)
			}
		})
	}
}

func TestNginxListing(t *testing.T) {
	s := peer.Nginx(t, peer.NginxOptions{})
	s.Put("d/f", []byte("hello"))
	resp, err := realClient(t, s, http.Options{}).Get(t.Context(), "http://"+s.Addr+"/d/")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range resp.Entries() {
		if n++; err != nil || e.Name != "f" || e.Size != 5 || time.Since(e.Time) > time.Hour {
			t.Errorf("got %+v, %v", e, err)
		}
	}
	if n != 1 {
		t.Errorf("%d entries", n)
	}
}

func TestListingLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large listings")
	}
	for name, r := range map[string]io.Reader{
		"one long tag":  strings.NewReader("<a href=\"" + strings.Repeat("x", 1<<20)),
		"one long text": strings.NewReader(strings.Repeat("x", 1<<20)),
	} {
		if _, err := entries(t, "http://h/", "text/html", r); !errors.Is(err, fetch.TooLarge) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	growth := heapGrowth(func() {
		endless := io.LimitReader(repeatReader("<a href='x'>x</a> <tr>"), 4<<20)
		for _, err := range http.Schemes(http.Options{})[0].Menu(uri.MustParse("http://h/"), "text/html", endless) {
			if err != nil {
				t.Error(err)
				break
			}
		}
	})
	if growth > 64<<20 {
		t.Errorf("memory grew by %d MiB", growth>>20)
	}
	if _, err := entries(t, "http://h/", "text/plain", strings.NewReader("x")); !errors.Is(err, fetch.Unsupported) {
		t.Errorf("plain text: got %v", err)
	}
}

// A repeatReader is a reader that repeats a text without end.
type repeatReader string

func (c repeatReader) Read(p []byte) (int, error) {
	n := 0
	for n+len(c) <= len(p) {
		n += copy(p[n:], c)
	}
	return max(n, copy(p[n:], c[:min(len(c), len(p)-n)])), nil
}

func FuzzAutoindex(f *testing.F) {
	for _, name := range []string{"nginx", "apache-fancy", "apache-table", "lighttpd", "python"} {
		text, err := os.ReadFile("testdata/autoindex/" + name + ".html")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), false)
	}
	f.Add("<urlset><url><loc>http://h/a</loc><lastmod>2005</lastmod></url></urlset>", true)
	f.Fuzz(func(t *testing.T, page string, xml bool) {
		media := map[bool]string{false: "text/html", true: "text/xml"}[xml]
		list, _ := entries(t, "http://h/d/", media, strings.NewReader(page))
		for _, e := range list {
			if _, err := uri.Parse(e.URL.Unredacted()); err != nil || e.Size < -1 {
				t.Errorf("entry %+v: %v", e, err)
			}
			if xml {
				continue
			}
			if rest, ok := strings.CutPrefix(e.URL.Unredacted(), "http://h/d/"); !ok || strings.Contains(strings.TrimSuffix(rest, "/"), "/") || strings.ContainsAny(e.Name, "/\x00") {
				t.Errorf("entry %+v is outside of the directory", e)
			}
		}
	})
}
