package wrap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/schemes/file"
	"github.com/anyurl/fetch/uri"
)

// object is a driver of one object whose bodies are interrupted.
type object struct {
	content []byte
	cuts    []int64 // length after which the n-th body is interrupted
	err     error   // the error of the interruption; nil means Truncated
	change  func(n int, req *fetch.Request, resp *fetch.Response) error

	asked []fetch.Request
	open  int
}

func (o *object) Do(_ context.Context, req *fetch.Request) (*fetch.Response, error) {
	o.asked = append(o.asked, *req)
	n := len(o.asked)
	first, end, _ := req.Range.Bounds(int64(len(o.content)))
	resp := &fetch.Response{Kind: fetch.Document, Size: int64(len(o.content)), Offset: first, Validator: "v1"}
	if o.change != nil {
		if err := o.change(n, req, resp); err != nil {
			return nil, err
		}
	}
	var r io.Reader = bytes.NewReader(o.content[resp.Offset:max(end, resp.Offset)])
	if n <= len(o.cuts) {
		err := o.err
		if err == nil {
			err = fetch.Truncated.Errorf("broke off")
		}
		r = io.MultiReader(io.LimitReader(r, o.cuts[n-1]), &failing{err})
	}
	o.open++
	resp.Body = &observedBody{ReadCloser: io.NopCloser(r), onEnd: func(int64, error) {}}
	resp.Body = &closing{ReadCloser: resp.Body, done: func() { o.open-- }}
	return resp, nil
}

// closing is a body that calls done when it is first closed.
type closing struct {
	io.ReadCloser
	once sync.Once
	done func()
}

func (c *closing) Close() error {
	c.once.Do(c.done)
	return c.ReadCloser.Close()
}

func random(size int) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// withoutValidator removes the validator of the second response.
func withoutValidator(n int, _ *fetch.Request, resp *fetch.Response) error {
	if n == 2 {
		resp.Validator = ""
	}
	return nil
}

// complete changes the responses after the first one to the complete object, as
// a server without support for ranges does.
func complete(n int, _ *fetch.Request, resp *fetch.Response) error {
	if n > 1 {
		resp.Offset = 0
	}
	return nil
}

func TestResume(t *testing.T) {
	content := random(5 << 20)
	size := int64(len(content))
	for _, c := range []struct {
		name   string
		o      object
		opts   RetryOptions
		req    fetch.Request
		asked  int
		fault  fetch.Fault
		prefix int64 // bytes received before the failure
	}{
		{"never breaks", object{}, RetryOptions{}, fetch.Request{}, 1, 0, 0},
		{"breaks twice", object{cuts: []int64{100, 2 << 20}}, RetryOptions{}, fetch.Request{}, 3, 0, 0},
		{"before the first byte", object{cuts: []int64{0}}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"reset", object{cuts: []int64{7}, err: fetch.Connect}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"behind the last byte", object{cuts: []int64{size}}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"behind the last byte, of which the server says no more", object{cuts: []int64{size}, change: withoutValidator}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"validator not repeated", object{cuts: []int64{100}, change: withoutValidator}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"validator not repeated, before the first byte", object{cuts: []int64{0}, change: withoutValidator}, RetryOptions{}, fetch.Request{}, 2, fetch.Truncated, 0},
		{"the complete object again", object{cuts: []int64{100}, change: complete}, RetryOptions{}, fetch.Request{}, 2, 0, 0},
		{"the complete object again, from an offset", object{cuts: []int64{100}, change: complete}, RetryOptions{},
			fetch.Request{Range: fetch.Range{First: 50}}, 2, 0, 0},
		{"interrupted before the missing bytes", object{cuts: []int64{100, 40}, change: complete}, RetryOptions{}, fetch.Request{}, 3, 0, 0},
		{"the same bytes each time", object{cuts: []int64{100, 100, 100, 100, 100}, change: complete}, RetryOptions{},
			fetch.Request{}, 4, fetch.Truncated, 100},
		{"the complete object instead of a part", object{cuts: []int64{100}, change: complete}, RetryOptions{},
			fetch.Request{Range: fetch.Range{First: 50, End: 5000}}, 2, fetch.Truncated, 100},
		{"a part", object{cuts: []int64{100}}, RetryOptions{}, fetch.Request{Range: fetch.Range{First: 50, End: 5000}}, 2, 0, 0},
		{"behind the last byte of a part", object{cuts: []int64{100}}, RetryOptions{}, fetch.Request{Range: fetch.Range{First: 50, End: 150}}, 1, 0, 0},
		{"the last part", object{cuts: []int64{100}}, RetryOptions{}, fetch.Request{Range: fetch.Range{First: -500}}, 2, 0, 0},
		{"too often", object{cuts: []int64{10, 10, 10, 10, 10}}, RetryOptions{}, fetch.Request{}, 4, fetch.Truncated, 40},
		{"often, with progress", object{cuts: []int64{renewAfter, 0, 0, renewAfter, 0, 0, renewAfter, 0, 0}}, RetryOptions{}, fetch.Request{}, 10, 0, 0},
		{"one attempt", object{cuts: []int64{10}}, RetryOptions{Attempts: 1}, fetch.Request{}, 1, fetch.Truncated, 10},
		{"for good", object{cuts: []int64{10}, err: fetch.Protocol}, RetryOptions{}, fetch.Request{}, 1, fetch.Protocol, 10},
		{"recorded", object{cuts: []int64{10}}, RetryOptions{}, fetch.Request{Trace: &trace.Trace{Restart: func() {}}}, 1, fetch.Truncated, 10},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := &c.o
			o.content = content
			c.req.URL = aRequest.URL
			resp, err := Retry(c.opts)(o).Do(t.Context(), &c.req)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			first, end, _ := c.req.Range.Bounds(size)
			if c.fault != 0 {
				end = first + c.prefix
			}
			if !bytes.Equal(got, content[first:end]) || fetch.FaultOf(err) != c.fault || len(o.asked) != c.asked || o.open != 0 {
				t.Errorf("%s: got %d bytes, %v in %d attempts, %d open, want %d, %v in %d", c.name, len(got), err, len(o.asked), o.open, end-first, c.fault, c.asked)
			}
		})
	}
}

// TestResumeRequest checks the request for the missing part. It has the exact
// offset and the validator, but not the other conditions of the first request.
func TestResumeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &object{content: random(1000), cuts: []int64{100}}
		req := &fetch.Request{URL: aRequest.URL, Range: fetch.Range{First: 10, End: 900}, IfNot: "old", Since: time.Now(), Before: time.Now(),
			Header: fetch.Header{{Name: "A", Value: "b"}}}
		resp, err := Retry(RetryOptions{})(o).Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		rest := o.asked[1]
		if rest.Range != (fetch.Range{First: 110, End: 900}) || rest.IfSame != "v1" || rest.IfNot != "" || !rest.Since.IsZero() ||
			!rest.Before.IsZero() || rest.Header.Get("a") != "b" || req.IfNot != "old" {
			t.Errorf("asked for the rest: %+v", rest)
		}
	})
}

// TestResumeOtherVersion checks that bytes of two versions are never joined,
// and that no byte is returned twice.
func TestResumeOtherVersion(t *testing.T) {
	content := random(10000)
	on := func(n int, f func(*fetch.Response)) func(int, *fetch.Request, *fetch.Response) error {
		return func(i int, _ *fetch.Request, resp *fetch.Response) error {
			if i >= n {
				f(resp)
			}
			return nil
		}
	}
	for name, change := range map[string]func(int, *fetch.Request, *fetch.Response) error{
		"another version, whole":    on(2, func(r *fetch.Response) { r.Offset, r.Validator = 0, "v2" }),
		"another version, its rest": on(2, func(r *fetch.Response) { r.Validator = "v2" }),
		"the whole, no version":     on(2, func(r *fetch.Response) { r.Offset, r.Validator = 0, "" }),
		"the whole, another size":   on(2, func(r *fetch.Response) { r.Offset = 0; r.Size++ }),
		"a byte too early":          on(2, func(r *fetch.Response) { r.Offset-- }),
		"a byte too late":           on(2, func(r *fetch.Response) { r.Offset++ }),
		"another size":              on(2, func(r *fetch.Response) { r.Size++ }),
		"a redirect":                on(2, func(r *fetch.Response) { r.Location = uri.MustParse("http://x/") }),
		"unchanged":                 on(2, func(r *fetch.Response) { r.Unchanged = true }),
		"a menu":                    on(2, func(r *fetch.Response) { r.Kind = fetch.Menu }),
		"a page that says no":       on(2, func(r *fetch.Response) { r.Fault = fetch.NotFound }),
		"never had a validator":     on(1, func(r *fetch.Response) { r.Validator = "" }),
		"a menu from the beginning": on(1, func(r *fetch.Response) { r.Kind = fetch.Menu }),
		"an error": func(n int, _ *fetch.Request, _ *fetch.Response) error {
			return map[bool]error{true: fetch.Denied}[n > 1]
		},
		"an error that would pass": func(n int, _ *fetch.Request, _ *fetch.Response) error {
			return map[bool]error{true: fetch.Connect}[n > 1]
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := &object{content: content, cuts: []int64{100}, change: change}
			resp, err := Retry(RetryOptions{})(o).Do(t.Context(), aRequest)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if !bytes.Equal(got, content[:100]) || !errors.Is(err, fetch.Truncated) {
				t.Errorf("%s: got %d bytes, %v, want the 100 and Truncated", name, len(got), err)
			}
			if _, again := resp.Body.Read(make([]byte, 9)); again != err {
				t.Errorf("%s: the error changed to %v", name, again)
			}
			resp.Body.Close()
			if o.open != 0 {
				t.Errorf("%s: %d bodies open", name, o.open)
			}
		})
	}
}

// TestResumeUnknownSize checks that a size may be unknown in one of the two
// responses.
func TestResumeUnknownSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &object{content: random(1000), cuts: []int64{100}}
		o.change = func(n int, _ *fetch.Request, resp *fetch.Response) error {
			if n == 1 {
				resp.Size = -1
			}
			return nil
		}
		resp, err := Retry(RetryOptions{})(o).Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got, err := io.ReadAll(resp.Body); !bytes.Equal(got, o.content) || err != nil {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	})
}

// TestResumeClose checks that Close ends the delay of an interrupted body.
func TestResumeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &object{content: random(1000), cuts: []int64{100}}
		resp, err := Retry(RetryOptions{Delay: time.Minute})(o).Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.AfterFunc(time.Second, func() { resp.Body.Close() })
		got, err := io.ReadAll(resp.Body)
		if took := time.Since(began); len(got) != 100 || err == nil || took != time.Second || len(o.asked) != 1 || o.open != 0 {
			t.Errorf("got %d bytes, %v after %v and %d attempts", len(got), err, took, len(o.asked))
		}
	})
}

// TestResumeFile interrupts the bodies of real files of a Client. The result is
// the file, or an error if the file has changed.
func TestResumeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	content := random(3 << 20)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, changes := range []bool{false, true} {
		broken := 0
		breaks := func(next fetch.Driver) fetch.Driver {
			return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
				resp, err := next.Do(ctx, req)
				if err == nil && broken < 3 {
					broken++
					cut := io.MultiReader(io.LimitReader(resp.Body, 500_001), &failing{io.ErrUnexpectedEOF})
					resp.Body = struct {
						io.Reader
						io.Closer
					}{cut, resp.Body}
				}
				return resp, err
			})
		}
		retry := Retry(RetryOptions{Delay: time.Millisecond, Notify: func(_ context.Context, a Attempt) {
			if changes && a.Count == 2 {
				os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
			}
		}})
		c := fetch.New(fetch.Options{Policy: fetch.Typed(), Wrap: []fetch.Middleware{retry, breaks}}, file.Schemes(file.Options{})...)
		resp, err := c.Get(t.Context(), "file://"+path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		c.Close()
		switch {
		case !changes && (!bytes.Equal(got, content) || err != nil || broken != 3):
			t.Errorf("got %d bytes, %v after %d breaks", len(got), err, broken)
		case changes && (!bytes.Equal(got, content[:1_000_002]) || !errors.Is(err, fetch.Truncated)):
			t.Errorf("changed: got %d bytes, %v, want what came before and Truncated", len(got), err)
		}
	}
}
