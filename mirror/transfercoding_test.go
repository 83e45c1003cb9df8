package mirror_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/schemes"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/warc"
)

// TestTransferCoding checks the records of responses with a transfer coding. An
// archive that has a record with and records without the coding must verify,
// and a response with another coding of the same object must be a revisit.
func TestTransferCoding(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a text with many equal words\n", 200)
	chunked := func(s string) string { return fmt.Sprintf("%x;x=y\r\n%s\r\n0\r\n", len(s), s) }
	const coded, coding = "Transfer-Encoding: chunked\r\n", "X-Orig-Transfer-Encoding: chunked\r\n"
	compressed := "Content-Encoding: gzip\r\n"
	for _, test := range []struct {
		name, fields, body string
		want               string // stored head fields
		stored             string // stored body
		trailer            string // field of the metadata record
	}{
		{"chunked", coded, chunked(text) + "\r\n", coding + "Content-Length: 5800\r\n", text, ""},
		{
			"trailer", coded + "Trailer: Digest\r\n", chunked(text) + "Digest: x=1\r\n\r\n",
			coding + "X-Orig-Trailer: Digest\r\nContent-Length: 5800\r\n", text, "trailer: Digest: x=1\r\n",
		},
		{"chunked twice", coded + coded, chunked(text) + "\r\n", coding + coding + "Content-Length: 5800\r\n", text, ""},
		{
			"chunked and a length", coded + "Content-Length: 3\r\n", chunked(text) + "\r\n",
			coding + "X-Orig-Content-Length: 3\r\nContent-Length: 5800\r\n", text, "",
		},
		{
			"gzip as transfer coding", "Transfer-Encoding: gzip, chunked\r\n", chunked(gzipped(t, text)) + "\r\n",
			"X-Orig-Transfer-Encoding: gzip, chunked\r\nContent-Length: 5800\r\n", text, "",
		},
		{
			"gzip as content coding", compressed + coded, chunked(gzipped(t, text)) + "\r\n",
			compressed + coding + fmt.Sprintf("Content-Length: %d\r\n", len(gzipped(t, text))), gzipped(t, text), "",
		},
		{
			"gzip as both codings", compressed + "Transfer-Encoding: gzip, chunked\r\n",
			chunked(gzipped(t, gzipped(t, text))) + "\r\n", compressed + "Transfer-Encoding: gzip, chunked\r\n",
			chunked(gzipped(t, gzipped(t, text))) + "\r\n", "",
		},
		{"length", "Content-Length: 5800\r\n", text, "Content-Length: 5800\r\n", text, ""},
		{"until the connection closes", "", text, "", text, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			short.Sample(t, 6)
			t.Parallel()
			var tag atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					w.WriteHeader(http.StatusNotFound)
					return
				}
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nETag: W/\"%d\"\r\n%s\r\n%s", tag.Load(), test.fields, test.body)
			}))
			defer server.Close()
			o := options(t, server.URL+"/")
			o.Tree = false
			legacy := web.Options{Compressed: true, Legacy: web.Legacy{Tolerant: true}}
			o.Client = fetch.New(fetch.Options{Policy: fetch.Typed()}, schemes.All(schemes.Options{HTTP: legacy})...)
			defer o.Client.Close()
			run(t, o)
			heads, blocks := records(t, o.Dir)
			checkStored(t, heads, blocks, "HTTP/1.1 200 OK\r\nETag: W/\"0\"\r\n"+test.want+"\r\n"+test.stored, test.trailer)
			for _, keep := range []bool{true, false} {
				tag.Add(1) // the object is requested again
				o.WARC.KeepTransferCoding = keep
				run(t, o)
			}
			checkVerify(t, o.Dir)
			if test.name != "gzip as both codings" { // its record has no payload digest, and a replay does not decode it
				checkTypes(t, o.Dir, server.URL+"/", "response revisit revisit")
				checkReplay(t, warcs(t, o.Dir), server.URL+"/", text)
			}

			o.Dir, o.WARC = t.TempDir(), &mirror.WARC{KeepTransferCoding: true}
			run(t, o)
			heads, blocks = records(t, o.Dir)
			checkStored(t, heads, blocks, "HTTP/1.1 200 OK\r\nETag: W/\"2\"\r\n"+test.fields+"\r\n"+test.body, "")
			tag.Add(1)
			o.WARC.KeepTransferCoding = false
			run(t, o)
			checkVerify(t, o.Dir)
			if !strings.Contains(test.fields, "Transfer-Encoding: gzip") { // a kept gzip coding has no payload digest
				checkTypes(t, o.Dir, server.URL+"/", "response revisit")
			}
		})
	}
}

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, s); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkStored checks the first response record with the status 200. If the
// record has a payload digest and no transfer coding, the digest must be that
// of the stored body, as warcio and warchaeology compute it.
func checkStored(t *testing.T, heads []*warc.Header, blocks []string, want, trailer string) {
	t.Helper()
	for i, h := range heads {
		if h.Type() != warc.Response || !strings.HasPrefix(blocks[i], "HTTP/1.1 200") {
			continue
		}
		if blocks[i] != want {
			t.Errorf("stored %.300q,\nwant %.300q", blocks[i], want)
		}
		head, body, _ := strings.Cut(blocks[i], "\r\n\r\n")
		sum := sha1.Sum([]byte(body))
		digest := "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
		if !strings.Contains(head, "\r\nTransfer-Encoding:") && h.Get("WARC-Payload-Digest") != digest {
			t.Errorf("payload digest %s, want that of the stored body", h.Get("WARC-Payload-Digest"))
		}
		got := ""
		if i+2 < len(heads) && heads[i+2].Type() == warc.Metadata && heads[i+2].Target() == h.Target() {
			got = blocks[i+2]
		}
		if got != trailer {
			t.Errorf("metadata %q, want %q", got, trailer)
		}
		return
	}
	t.Error("no response record")
}

// checkTypes checks the types of the records for url, except request and
// metadata records.
func checkTypes(t *testing.T, dir, url, want string) {
	t.Helper()
	var got []string
	heads, _ := records(t, dir)
	for _, h := range heads {
		if h.Target() == url && h.Type() != warc.Request && h.Type() != warc.Metadata {
			got = append(got, string(h.Type()))
		}
	}
	if all := strings.Join(got, " "); all != want {
		t.Errorf("records %s, want %s", all, want)
	}
}
