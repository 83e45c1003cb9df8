package warc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// day is the date of all captures and the time of the Writer.
var day = time.Date(2026, 11, 21, 8, 30, 0, 123456000, time.UTC)

// testOptions returns options that make the output deterministic.
func testOptions() Options {
	n := 0
	return Options{
		Worker: "w1",
		Now:    func() time.Time { return day },
		newID:  func() string { n++; return fmt.Sprintf("urn:uuid:00000000-0000-4000-8000-%012d", n) },
	}
}

func testFolder(t testing.TB) *os.Root {
	t.Helper()
	dir, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

func testWriter(t testing.TB, dir *os.Root, opts Options) *Writer {
	t.Helper()
	w, err := NewWriter(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Abandon() })
	return w
}

func mustWrite(t testing.TB, w *Writer, group ...*Record) []Position {
	t.Helper()
	positions, err := w.Write(group...)
	if err != nil {
		t.Fatal(err)
	}
	return positions
}

func at(url string, seconds int) Capture {
	return Capture{URL: uri.MustParse(url), Date: day.Add(time.Duration(seconds) * time.Second),
		IP: netip.MustParseAddr("192.0.2.7")}
}

func text(s string) io.Reader { return strings.NewReader(s) }

func gzipped(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, s)
	z.Close()
	return b.String()
}

const (
	menuText = "0About\t/about\th.example\t70\r\n1More\t/more\th.example\t70\r\n.\r\n"
	article  = "Path: h.example!not-for-mail\r\nMessage-ID: <1@h.example>\r\nSubject: caf\xe9\r\n\r\nHello\r\n"
	index    = "<html><head><title>Index of /pub/</title></head><body><a href=\"a.txt\">a.txt</a></body></html>"
)

func answer(head, body string) string { return head + "\r\n\r\n" + body }

var (
	plainAnswer   = answer("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 5", "hello")
	chunkedAnswer = answer("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked",
		"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n")
	gzipAnswer = answer("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip", gzipped("packed text"))
)

// writeSample writes records of every type and of nearly every scheme.
func writeSample(t testing.TB, w *Writer) (all []Position) {
	t.Helper()
	write := func(group ...*Record) []Position {
		positions := mustWrite(t, w, group...)
		all = append(all, positions...)
		return positions
	}
	get := func(c Capture, response string) []Position {
		return write(c.Response(text(response)), c.Request(text("GET "+c.URL.Path()+" HTTP/1.1\r\nHost: h.example\r\n\r\n")))
	}
	plain := at("http://www.h.example/a?y=2&x=1", 0)
	first := get(plain, plainAnswer)[0]
	chunked := at("https://h.example/chunked", 1)
	chunked.Protocols, chunked.Cipher = []string{"h2", "tls/1.3"}, "TLS_AES_128_GCM_SHA256"
	get(chunked, chunkedAnswer)
	get(at("http://h.example/gzip", 2), gzipAnswer)
	get(at("http://h.example/moved", 3), answer("HTTP/1.1 301 Moved\r\nLocation: /a?y=2&x=1\r\nContent-Length: 0", ""))
	get(at("http://h.example/gone", 4),
		answer("HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4", "gone"))
	get(at("http://h.example/pub/", 4), answer("HTTP/1.0 200 OK\r\nContent-Type: text/html", index))

	ref := Reference{ID: first.ID, URL: plain.URL, Date: first.Date}
	again := at("http://www.h.example/a?y=2&x=1", 100)
	write(again.NotModified(ref, first.PayloadDigest, text("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n")),
		again.Request(text("GET /a HTTP/1.1\r\n\r\n")))
	copied := at("http://h.example/copy", 101)
	write(copied.Revisit(ref, first.PayloadDigest,
		text("HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Length: 5\r\n\r\n")),
		copied.Request(text("GET /copy HTTP/1.1\r\n\r\n")))

	gopher := at("gopher://h.example/1/", 5)
	gopher.Protocols = []string{"gopher"}
	menu := write(gopher.Resource("application/gopher-menu", text(menuText)),
		gopher.Metadata(FieldsMedia, text("sent: /\r\n")))[0]
	later := at("gopher://h.example/1/", 105)
	write(later.Revisit(Reference{menu.ID, gopher.URL, menu.Date}, menu.PayloadDigest, nil))
	ftp := at("ftp://me:secret@h.example/pub/;type=d", 6)
	write(ftp.Resource("text/x-ftp-list; dialect=unix", text("-rw-r--r-- 1 a b 5 Nov 21 08:30 a.txt\r\n")),
		ftp.Metadata("text/x-ftp-control-conversation", text("< 220 hi\r\n")))
	write(at("ftp://h.example/pub/a.txt", 7).Resource("", text("hello")))
	news := at("news:1@h.example", 8)
	write(news.Resource("message/rfc822", text(article)),
		at("nntp://h.example/misc.test/1", 8).Metadata(FieldsMedia,
			FieldList(fetch.Header{{Name: "message-id", Value: "<1@h.example>"}})))
	write(at("wais://h.example/db?one%20two", 9).Resource("application/x-ndjson; profile=fetch-entries", text("")))
	write(at("imap://me@h.example/INBOX;UIDVALIDITY=1/;UID=2", 10).Resource("message/rfc822", text(article)))
	cut := at("gopher://h.example/9/cut", 11).Resource("application/octet-stream", text("half"))
	cut.Truncated = TruncatedByDisconnect
	write(cut)
	failure := at("gopher://nowhere.example/", 12)
	write(failure.Failure(&fetch.Error{Op: "dial", Code: 7, Err: fetch.DNS.With(errors.New("no such\r\nhost"))}))
	return all
}

// sample writes the sample to a file and returns its path.
func sample(t testing.TB, opts Options) string {
	t.Helper()
	dir := testFolder(t)
	w := testWriter(t, dir, opts)
	positions := writeSample(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir.Name() + "/" + positions[0].File
}

func newNamed(w io.Writer) *gzip.Writer {
	z := gzip.NewWriter(w)
	z.Name, z.Comment, z.Extra = "name", "comment", []byte("extra")
	return z
}
