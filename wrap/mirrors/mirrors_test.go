package mirrors

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	web "github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/wrap"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const pieceSize = 64 << 10

// content has 20 pieces, of which the last is short.
var content = func() []byte {
	b := make([]byte, 19*pieceSize+1000)
	for i := range b {
		b[i] = byte(i >> 8 * i)
	}
	return b
}()

// A testMirror is a mirror that counts its requests.
type testMirror struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string // values of the Range field
	body     []byte
	wait     chan struct{} // if not nil, requests wait until it is closed
	code     int           // if not 0, the status of each response
	cut      bool          // each body is cut
	noRanges bool
	bodyOf   func(field string) []byte // if not nil, returns the body for a Range field
}

func newMirror(t *testing.T) *testMirror {
	m := &testMirror{body: content}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.mu.Lock()
		m.requests = append(m.requests, r.Header.Get("Range"))
		m.mu.Unlock()
		if m.wait != nil {
			select {
			case <-m.wait:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Etag", `"`+m.URL+`"`)
		switch {
		case m.code != 0:
			w.WriteHeader(m.code)
		case m.noRanges:
			w.Write(m.body)
		case m.cut:
			var first, last int
			fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(m.body)))
			w.Header().Set("Content-Length", fmt.Sprint(last+1-first))
			w.WriteHeader(206)
			w.Write(m.body[first : first+10])
		default:
			body := m.body
			if m.bodyOf != nil {
				body = m.bodyOf(r.Header.Get("Range"))
			}
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		}
	}))
	t.Cleanup(m.Close)
	return m
}

// bad returns content with a wrong byte in a piece.
func bad(piece int) []byte {
	b := bytes.Clone(content)
	b[piece*pieceSize+5]++
	return b
}

func (m *testMirror) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.requests)
}

// object returns the object of some mirrors, with the digests of its pieces.
func object(t *testing.T, mirrors ...*testMirror) Object {
	o := Object{Size: int64(len(content)), PieceSize: pieceSize, Digest: "sha256=x"}
	for i := 0; i < len(content); i += pieceSize {
		d, err := verify.ParseDigest(fmt.Sprintf("sha256=%x", sha256.Sum256(content[i:min(i+pieceSize, len(content))])))
		if err != nil {
			t.Fatal(err)
		}
		o.Pieces = append(o.Pieces, d)
	}
	for _, m := range mirrors {
		u, err := fetch.ParseURL(m.URL + "/f")
		if err != nil {
			t.Fatal(err)
		}
		o.Mirrors = append(o.Mirrors, &fetch.Request{URL: u})
	}
	return o
}

// get retrieves an object.
func get(t *testing.T, o Object, req fetch.Request) (resp *fetch.Response, text []byte, err error) {
	t.Helper()
	err = withResponse(t, o, req, func(r *fetch.Response) (err error) {
		resp = r
		text, err = io.ReadAll(r.Body)
		return err
	})
	return resp, text, err
}

// withResponse calls use with the response for an object, and closes its body.
func withResponse(t *testing.T, o Object, req fetch.Request, use func(*fetch.Response) error) error {
	t.Helper()
	c := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: wrap.Standard(wrap.Options{})}, web.Schemes(web.Options{})...)
	defer c.Close()
	req.URL = o.Mirrors[0].URL
	resp, err := New(c, o).Do(t.Context(), &req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return use(resp)
}

// TestBadPiece repairs a bad piece of one mirror with one request to the other. The
// mirror that gets the request for all pieces sends the bad one. The other may
// request one piece early, and waits until only the bad piece is left.
func TestBadPiece(t *testing.T) {
	all := fmt.Sprintf("bytes=0-%d", len(content)-1)
	repair := fmt.Sprintf("bytes=%d-%d", 7*pieceSize, 8*pieceSize-1)
	first, second, left := newMirror(t), newMirror(t), make(chan struct{})
	release := sync.OnceFunc(func() { close(left) })
	t.Cleanup(release)
	for _, m := range []*testMirror{first, second} {
		m.bodyOf = func(field string) []byte {
			if field == all {
				return bad(7)
			}
			<-left
			return content
		}
	}
	var text []byte
	err := withResponse(t, object(t, first, second), fetch.Request{}, func(resp *fetch.Response) (err error) {
		awaitPieces(resp.Body.(*body), 7)
		release()
		text, err = io.ReadAll(resp.Body)
		return err
	})
	if err != nil || !bytes.Equal(text, content) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	bad, other := first, second
	if slices.Contains(second.requests, all) {
		bad, other = second, first
	}
	repairs := len(slices.DeleteFunc(slices.Clone(other.requests), func(field string) bool { return field != repair }))
	if repairs != 1 || other.count() > 2 || bad.count() != 1 {
		t.Errorf("requests: %q to the mirror with the bad piece, %q to the other", bad.requests, other.requests)
	}
}

// awaitPieces waits until all pieces but one are complete.
func awaitPieces(b *body, but int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for slices.ContainsFunc(b.window, func(p *piece) bool { return !p.done && p.first != but*pieceSize }) && b.ctx.Err() == nil {
		b.changed.Wait()
	}
}

func TestMirrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(all []*testMirror, o *Object)
		want   fetch.Fault // or 0 for success
	}{
		{"good", func([]*testMirror, *Object) {}, 0},
		{"first is missing", func(all []*testMirror, o *Object) { all[0].code = 404 }, 0},
		{"first is overloaded", func(all []*testMirror, o *Object) { all[0].code = 503 }, 0},
		{"first cuts its bodies", func(all []*testMirror, o *Object) { all[0].cut = true }, 0},
		{"first is down", func(all []*testMirror, o *Object) { all[0].Close() }, 0},
		{"first has no ranges", func(all []*testMirror, o *Object) { all[0].noRanges = true }, 0},
		{"first has another size", func(all []*testMirror, o *Object) { all[0].body = content[1:] }, 0},
		{"first is all wrong", func(all []*testMirror, o *Object) { all[0].body = make([]byte, len(content)) }, 0},
		{"two have different bad pieces", func(all []*testMirror, o *Object) { all[0].body, all[1].body = bad(3), bad(4) }, 0},
		{"two have the same bad piece", func(all []*testMirror, o *Object) { all[0].body, all[1].body = bad(3), bad(3) }, 0},
		{"all have the same bad piece", func(all []*testMirror, o *Object) { all[0].body, all[1].body, all[2].body = bad(3), bad(3), bad(3) }, fetch.Mismatch},
		{"all are missing", func(all []*testMirror, o *Object) { all[0].code, all[1].code, all[2].code = 404, 404, 404 }, fetch.NotFound},
		{"all cut", func(all []*testMirror, o *Object) { all[0].cut, all[1].cut, all[2].cut = true, true, true }, fetch.Truncated},
		{"unknown size and no pieces", func(all []*testMirror, o *Object) { o.Size, o.PieceSize, o.Pieces = -1, 0, nil }, 0},
		{"unknown size, first is missing", func(all []*testMirror, o *Object) { o.Size, o.PieceSize, o.Pieces, all[0].code = -1, 0, nil, 404 }, 0},
		{"many mirrors, most of them down", func(all []*testMirror, o *Object) {
			for range 20 {
				o.Mirrors = append([]*fetch.Request{o.Mirrors[0]}, o.Mirrors...)
			}
			all[0].Close()
		}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			all := []*testMirror{newMirror(t), newMirror(t), newMirror(t)}
			o := object(t, all...)
			test.change(all, &o)
			_, text, err := get(t, o, fetch.Request{})
			if test.want == 0 && (err != nil || !bytes.Equal(text, content)) || test.want != 0 && fetch.FaultOf(err) != test.want {
				t.Errorf("%d bytes, %v", len(text), err)
			}
			if !bytes.HasPrefix(content, text) {
				t.Error("wrong bytes were returned")
			}
		})
	}
}

// TestUnchanged checks the conditions of the requests for mirrors.
func TestUnchanged(t *testing.T) {
	for _, test := range []struct {
		name      string
		codes     [3]int
		want      fetch.Fault // or 0 for success
		unchanged bool
	}{
		{"all unchanged", [3]int{304, 304, 304}, 0, true},
		{"one is missing", [3]int{404, 304, 304}, 0, true},
		{"only one is unchanged", [3]int{304, 0, 0}, 0, false},
		{"all missing", [3]int{404, 404, 404}, fetch.NotFound, false},
	} {
		all := []*testMirror{newMirror(t), newMirror(t), newMirror(t)}
		for i, code := range test.codes {
			all[i].code = code
		}
		o := object(t, all...)
		for _, m := range o.Mirrors {
			m.Since = time.Unix(1e9, 0)
		}
		resp, text, err := get(t, o, fetch.Request{})
		if fetch.FaultOf(err) != test.want || err == nil && (resp.Unchanged != test.unchanged || !test.unchanged && !bytes.Equal(text, content)) {
			t.Errorf("%s: %d bytes, %v, %v", test.name, len(text), resp, err)
		}
	}
}

// TestResume starts in the middle of a piece.
func TestResume(t *testing.T) {
	o := object(t, newMirror(t), newMirror(t))
	first, _, err := get(t, o, fetch.Request{})
	if err != nil || first.Validator == "" {
		t.Fatal(first, err)
	}
	for _, start := range []int64{1, pieceSize - 1, pieceSize, 5*pieceSize + 7, int64(len(content)) - 1, int64(len(content))} {
		resp, text, err := get(t, o, fetch.Request{Range: fetch.Range{First: start}, IfSame: first.Validator})
		if err != nil || resp.Offset != start || !bytes.Equal(text, content[start:]) {
			t.Errorf("from %d: %d bytes, %v", start, len(text), err)
		}
	}
	resp, text, err := get(t, o, fetch.Request{Range: fetch.Range{First: 9}, IfSame: "other"})
	if err != nil || resp.Offset != 0 || len(text) != len(content) {
		t.Errorf("another version: %d bytes, %v", len(text), err)
	}
}

// TestEmpty retrieves an empty object.
func TestEmpty(t *testing.T) {
	m := newMirror(t)
	m.body = nil
	o := object(t, m)
	o.Size, o.Pieces = 0, nil
	if _, text, err := get(t, o, fetch.Request{}); err != nil || len(text) > 0 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestClose closes a body while all mirrors wait.
func TestClose(t *testing.T) {
	m, slow := newMirror(t), newMirror(t)
	slow.wait = make(chan struct{})
	c := fetch.New(fetch.Options{Policy: fetch.Typed()}, web.Schemes(web.Options{})...)
	defer c.Close()
	resp, err := New(c, object(t, m, slow)).Do(t.Context(), &fetch.Request{})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
		t.Error("read after Close")
	}
}

// TestPolicy checks that a public list cannot lead to this machine.
func TestPolicy(t *testing.T) {
	m := newMirror(t)
	o := object(t, m)
	u, _ := fetch.ParseURL("http://example.org/")
	o.Mirrors[0].From = &fetch.Source{URL: u}
	if _, _, err := get(t, o, fetch.Request{}); fetch.FaultOf(err) != fetch.BadAddress || m.count() > 0 {
		t.Error(err)
	}
}
