package wais_test

import (
	"bytes"
	"io"
	"net"
	"runtime"
	"strconv"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/internal/wire/z3950"
)

// large is a generated document of the given size.
func large(size int64) *waistest.Server {
	doc := &waistest.Document{Path: "/a", Bodies: []waistest.Body{{Type: "TEXT", Size: size, Bytes: repeated(bytes.Repeat([]byte("fifteen letters\n"), 1<<16))}}}
	return &waistest.Server{Databases: map[string]*waistest.Database{"db": {Documents: []*waistest.Document{doc}}}}
}

// repeated returns an endless reader of its bytes.
type repeated []byte

func (r repeated) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], r[(off+int64(n))%int64(len(r)):])
	}
	return n, nil
}

// onLoopback serves on loopback sockets.
func onLoopback(t testing.TB, server *waistest.Server) (c *fetch.Client, prefix string) {
	s := faultnet.Listen(t, faultnet.Script{server.Step()})
	return client(t), "wais://" + s.Addr().String() + "/"
}

// TestLarge retrieves 64 MiB in constant memory.
func TestLarge(t *testing.T) {
	const size = 64 << 20
	c, prefix := onLoopback(t, large(size))
	schemetest.ConstantMemory(t, c, schemetest.NewRequest(t, prefix+"db/TEXT/"+strconv.Itoa(size)+"/3=0%200%20/a;"), size)
}

// TestManyResults lists ten thousand results, each with a URL.
func TestManyResults(t *testing.T) {
	const many = 10000
	d := &waistest.Database{Documents: []*waistest.Document{waistest.NewText("/a", "a", "x\n")}}
	d.Rank = func(q *z3950.Query) (results []waistest.Hit) {
		for range q.Max.Value {
			results = append(results, waistest.Hit{Document: d.Documents[0], Score: z3950.Some(1000), BestMatch: z3950.Some(1)})
		}
		return results
	}
	c, prefix := onLoopback(t, &waistest.Server{Buffer: 16 << 20, Databases: map[string]*waistest.Database{"db": d}})
	resp, err := c.Get(t.Context(), prefix+"db?x&max="+strconv.Itoa(many))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for e, err := range resp.Entries() {
		if err != nil || e.URL.IsZero() {
			t.Fatalf("%d: %+v, %v", n, e, err)
		}
		n++
	}
	if n != many {
		t.Errorf("%d results", n)
	}
}

// TestResultsStream: results are returned before the last one has arrived.
func TestResultsStream(t *testing.T) {
	var records []z3950.Record
	for range 4000 {
		records = append(records, document("a hit"))
	}
	answer := message(records...)
	seen := make(chan bool)
	c, _ := serve(t, ready(faultnet.Send(answer[:len(answer)/2]),
		faultnet.Do("wait", func(*faultnet.Conn) error { <-seen; return nil }), faultnet.Send(answer[len(answer)/2:])))
	resp, err := c.Get(t.Context(), host+"db?x&max=4000")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range resp.Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 300 {
			close(seen)
		}
	}
	if n != len(records) {
		t.Errorf("%d results", n)
	}
}

func BenchmarkRetrieve(b *testing.B) {
	const size = 1 << 30
	c, prefix := onLoopback(b, large(size))
	b.SetBytes(size)
	for b.Loop() {
		resp, err := c.Get(b.Context(), prefix+"db/TEXT/"+strconv.Itoa(size)+"/3=0%200%20/a;")
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, resp.Body); n != size || err != nil {
			b.Fatal(n, err)
		}
		resp.Body.Close()
	}
	b.ReportMetric(peak(), "MiB-heap")
}

func peak() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapSys) / (1 << 20)
}

// BenchmarkCopy copies over the same sockets without a protocol, in pieces of
// the size of a message.
func BenchmarkCopy(b *testing.B) {
	const size, piece = 1 << 30, 100_000
	s := faultnet.Listen(b, faultnet.Script{faultnet.Do("copy", func(c *faultnet.Conn) error {
		text := repeated(bytes.Repeat([]byte("fifteen letters\n"), 1<<16))
		_, err := io.CopyBuffer(struct{ io.Writer }{c}, io.NewSectionReader(text, 0, size), make([]byte, piece))
		return err
	})})
	buf := make([]byte, piece)
	b.SetBytes(size)
	for b.Loop() {
		conn, err := net.Dial("tcp", s.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{conn}, buf); n != size || err != nil {
			b.Fatal(n, err)
		}
		conn.Close()
	}
}
