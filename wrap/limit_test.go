package wrap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"github.com/anyurl/fetch/fetch"
)

// holding is a driver that returns bodies of the given size.
func holding(size int) fetch.Driver {
	return fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
		return &fetch.Response{Body: io.NopCloser(bytes.NewReader(make([]byte, size)))}, nil
	})
}

// TestLimit checks that all bodies together keep to the rate, except for one
// burst, and that no bytes are lost.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		rate         int64
		size, bodies int
	}{
		{1000, 10_000, 1},
		{1000, 5_000, 4},
		{10, 50, 2}, // less than one byte per interval
		{1 << 20, 3 << 20, 3},
		{64 << 20, 32 << 20, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := Limit(c.rate)(holding(c.size))
			began := time.Now()
			var readers sync.WaitGroup
			for range c.bodies {
				readers.Go(func() {
					resp, err := d.Do(t.Context(), aRequest)
					if err != nil {
						t.Error(err)
						return
					}
					defer resp.Body.Close()
					if n, err := io.Copy(io.Discard, resp.Body); n != int64(c.size) || err != nil {
						t.Errorf("got %d bytes, %v", n, err)
					}
				})
			}
			readers.Wait()
			want := time.Duration(float64(c.size*c.bodies) / float64(c.rate) * float64(time.Second))
			if took := time.Since(began); took > want || took < want-want/50-time.Second/8 {
				t.Errorf("%d bodies of %d at %d B/s took %v, want about %v", c.bodies, c.size, c.rate, took, want)
			}
		})
	}
}

func TestNoLimit(t *testing.T) {
	for _, rate := range []int64{0, -1} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			resp, err := Limit(rate)(holding(10<<20)).Do(t.Context(), aRequest)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); n != 10<<20 || err != nil || time.Since(began) != 0 {
				t.Errorf("got %d bytes, %v after %v", n, err, time.Since(began))
			}
		})
	}
}

// TestLimitCancel checks that the end of ctx and Close end a delay in Read, and
// that Read returns the bytes that it has read.
func TestLimitCancel(t *testing.T) {
	gone := errors.New("gone")
	for name, end := range map[string]func(cancel func(error), body io.Closer){
		"ctx":   func(cancel func(error), _ io.Closer) { cancel(gone) },
		"close": func(_ func(error), body io.Closer) { body.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			resp, err := Limit(8)(holding(1000)).Do(ctx, aRequest) // one byte per eighth of a second
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			began := time.Now()
			time.AfterFunc(1060*time.Millisecond, func() { end(cancel, resp.Body) })
			n, err := io.Copy(io.Discard, resp.Body)
			if took := time.Since(began); took != 1060*time.Millisecond || n < 8 || n > 10 || err == nil || name == "ctx" && err != gone {
				t.Errorf("%s: got %d bytes, %v after %v", name, n, err, took)
			}
		})
	}
}

// TestLimitAtEnd checks that the end of a body does not wait for the bytes of
// another body with the same limit.
func TestLimitAtEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bucket := rate.NewLimiter(10, 10)
		bucket.ReserveN(time.Now(), 10)
		bucket.ReserveN(time.Now(), 10)
		b := &limited{ReadCloser: io.NopCloser(strings.NewReader("")), bucket: bucket, ctx: t.Context()}
		start := time.Now()
		if n, err := b.Read(make([]byte, 1)); n != 0 || err != io.EOF || time.Since(start) != 0 {
			t.Errorf("%d, %v after %v", n, err, time.Since(start))
		}
	})
}
