package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/warc"
)

// foreignRecord returns a response record as another program writes it.
func foreignRecord(date, url, body string) string {
	block := ok("text/html", body)
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%s:%s>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n"+
		"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", date, url, date, url, len(block), block)
}

// TestForeignArchive requests captures of a file that another program wrote.
func TestForeignArchive(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f.warc.gz")
	text := foreignRecord("2019-01-01T00:00:00Z", "http://a.example/", "in 2019") +
		foreignRecord("2020-01-01T00:00:00Z", "http://a.example/", "in 2020") +
		foreignRecord("2020-01-01T00:00:00Z", "http://a.example/?a[]=1", `brackets <a href="?a[]=1">`) +
		foreignRecord("2020-02", "http://a.example/month", "in a month")
	if err := os.WriteFile(name, []byte(zipped(text)), 0o666); err != nil {
		t.Fatal(err)
	}
	source, err := warc.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	h := newHandler(t, func(o *Options) { o.Archives = []Archive{{Name: "f", Source: source}} })
	for _, c := range []struct {
		name, target string
		status       int
		want         []string
	}{
		{"home", "/", 200, nil},
		{"first record of a gzip member", "/archive/f/2019/http://a.example/", 200, []string{"in 2019"}},
		{"second record of a gzip member", "/archive/f/2020/http://a.example/", 200, []string{"in 2020"}},
		{"brackets", "/archive/f/2020/http://a.example/?a[]=1", 200, []string{"brackets", `/http://a.example/?a%5B%5D=1"`}},
		{"encoded brackets", "/archive/f/2020/http://a.example/?a%5B%5D=1", 200, []string{"brackets"}},
		{"captures", "/archive/f/*/http://a.example/?a[]=1", 200, []string{`href="/archive/f/20200101000000/http://a.example/?a%5B%5D=1"`}},
		{"search", "/archive/f/?prefix=http://a.example/%3Fa%5B", 200, []string{`href="/archive/f/20200101000000/http://a.example/?a%5B%5D=1"`}},
		{"date without a day", "/archive/f/2020/http://a.example/month", 200, []string{"in a month", "Sat, 01 Feb 2020 00:00:00 GMT"}},
		{"captures without a day", "/archive/f/*/http://a.example/month", 200, []string{"20200201000000/http://a.example/month"}},
		{"search without a day", "/archive/f/?prefix=http://a.example/month", 200, []string{`href="/archive/f/20200201000000/http://a.example/month"`}},
	} {
		t.Run(c.name, func(t *testing.T) { checkResponse(t, get(h, "GET", c.target), c.status, c.want) })
	}
}
