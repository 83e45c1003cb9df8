package metalink

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

var base = uri.MustParse("http://example.org/dir/list.meta4")

const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

func wrapFile(name, inner string) string {
	return `<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="` + name + `">` + inner + `</file></metalink>`
}

const oneURL = `<url>http://a.example/f</url>`

func describe(f File) string {
	var urls []string
	for _, m := range f.Mirrors {
		urls = append(urls, fmt.Sprintf("%d:%s", m.Priority, m.URL))
	}
	return fmt.Sprintf("%q %d %s digests=%v pieces=%d*%d", f.Name, f.Size, strings.Join(urls, " "), f.Digests, len(f.Pieces), f.PieceSize)
}

func TestParse(t *testing.T) {
	hashes := strings.Repeat("<hash>"+sum+"</hash>", 2)
	for _, test := range []struct{ name, text, want string }{
		{"mirrors by priority", wrapFile("f", `<size>9</size><url priority="2">http://b/f</url><url priority="1">ftp://a/f</url><url>x/f</url><url priority="1">ftp://a/f</url>`),
			`"f" 9 1:ftp://a/f 2:http://b/f 999999:http://example.org/dir/x/f digests=[] pieces=0*0`},
		{"digests", wrapFile("f", oneURL+`<hash type="md5">900150983cd24fb0d6963f7d28e17f72</hash><hash type="sha-256">`+sum+`</hash><hash type="sha-999">00</hash>`),
			`"f" -1 999999:http://a.example/f digests=[sha256=` + sum + ` md5=900150983cd24fb0d6963f7d28e17f72] pieces=0*0`},
		{"pieces", wrapFile("f", oneURL+`<size>40000</size><pieces length="32768" type="sha-256">`+hashes+`</pieces>`), `"f" 40000 999999:http://a.example/f digests=[] pieces=2*32768`},
		{"too few pieces", wrapFile("f", oneURL+`<size>90000</size><pieces length="32768" type="sha-256">`+hashes+`</pieces>`), `"f" 90000 999999:http://a.example/f digests=[] pieces=0*0`},
		{"tiny pieces", wrapFile("f", oneURL+`<size>2</size><pieces length="1" type="sha-256">`+hashes+`</pieces>`), `"f" 2 999999:http://a.example/f digests=[] pieces=0*0`},
		{"version 3", `<metalink version="3.0"><files><file name="f"><size>9</size><verification><hash type="sha256">` + sum + `</hash></verification>` +
			`<resources><url type="http" preference="90">http://b/f</url><url preference="100">http://a/f</url></resources></file></files></metalink>`,
			`"f" 9 1:http://a/f 11:http://b/f digests=[sha256=` + sum + `] pieces=0*0`},
		{"folder in the name", wrapFile("../../etc/passwd", oneURL), `"passwd" -1 999999:http://a.example/f digests=[] pieces=0*0`},
		{"backslash in the name", wrapFile(`..\x`, oneURL), `"x" -1 999999:http://a.example/f digests=[] pieces=0*0`},
		{"name ..", wrapFile("..", oneURL), "protocol"},
		{"control character", wrapFile("a&#10;b", oneURL), "protocol"},
		{"no mirror", wrapFile("f", ""), "protocol"},
		{"no document", "hello", "protocol"},
		{"empty", "", "protocol"},
		{"cut", wrapFile("f", oneURL)[:100], "protocol"},
		{"entity", `<!DOCTYPE x [<!ENTITY a "aaaa">]>` + wrapFile("&a;", oneURL), "protocol"},
		{"long entity", wrapFile("&"+strings.Repeat("x", 1<<20)+";", oneURL), "protocol"},
		{"external entity", `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + wrapFile("f", "<url>&a;</url>"), "protocol"},
		{"many tags", wrapFile("f", strings.Repeat("<a/>", maxTags)), "too-large"},
		{"long", strings.Repeat(" ", MaxDocument+1), "too-large"},
	} {
		files, err := Parse(strings.NewReader(test.text), base)
		got := fetch.FaultOf(err).String()
		if err == nil {
			got = describe(files[0])
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("%s: an error of %d bytes", test.name, len(err.Error()))
		}
		if got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s\n%v", test.name, got, test.want, err)
		}
	}
	var many bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&many, `<url priority="%d">http://h%d/</url>`, 100_000-i, i)
	}
	files, err := Parse(strings.NewReader(wrapFile("f", many.String())), base)
	if err != nil || len(files[0].Mirrors) != MaxMirrors || files[0].Mirrors[0].URL.Host() != "h99999" {
		t.Errorf("100,000 mirrors: %v", err)
	}
}

func TestFromHeader(t *testing.T) {
	header := fetch.Header{
		{Name: "Link", Value: `<http://b/f>; rel=duplicate; pri=2; geo=de, <a>; rel="duplicate"; pri=1; title="a, \"b\""`},
		{Name: "Link", Value: `<f.meta4>; rel=describedby; type="application/metalink4+xml", <x>; rel=next, <f.asc>; rel=describedby; type="application/pgp-signature"`},
		{Name: "Digest", Value: "SHA-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
	}
	f, described := FromHeader(uri.MustParse("http://h/d/f"), header)
	if got, want := describe(f), `"" -1 0:http://h/d/f 1:http://h/d/a 2:http://b/f digests=[sha256=`+sum+`] pieces=0*0`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if described.String() != "http://h/d/f.meta4" {
		t.Errorf("described by %s", described)
	}
	for _, value := range []string{"", "<", "<a", "<a>;", `<a>;rel="`, "<a>;rel=duplicate;", ";;;<>", "<a>;=;,"} {
		FromHeader(base, fetch.Header{{Name: "Link", Value: value}})
	}
}

func TestIsDocument(t *testing.T) {
	for media, want := range map[string]bool{"application/metalink4+xml; charset=utf-8": true, "Application/Metalink+XML": true, "text/xml": false} {
		if IsDocument(media, nil) != want {
			t.Error(media)
		}
	}
	if !IsDocument("", []byte(wrapFile("f", ""))) {
		t.Error("not recognized by its content")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(wrapFile("f", oneURL+`<hash type="sha-256">`+sum+`</hash><size>3</size>`)), `<a>; rel=duplicate; pri="1"`)
	f.Fuzz(func(t *testing.T, text []byte, field string) {
		files, err := Parse(bytes.NewReader(text), base)
		for _, f := range files {
			if err != nil || f.Name == "" || f.Name == ".." || strings.ContainsAny(f.Name, "/\\\x00\n") || len(f.Mirrors) == 0 || len(f.Mirrors) > MaxMirrors {
				t.Errorf("%v: %v", f, err)
			}
		}
		FromHeader(base, fetch.Header{{Name: "Link", Value: field}})
	})
}
