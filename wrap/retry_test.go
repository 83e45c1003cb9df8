package wrap

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/internal/wire/proxy"
	"github.com/anyurl/fetch/uri"
)

var aRequest = &fetch.Request{URL: uri.MustParse("http://h/x")}

// answers is a driver that fails with each error in turn and then succeeds. An
// error inside of a page is the Fault of a Response.
type answers struct {
	errs []error
	n    int
	open int // pages that are not closed
}

type page struct{ error }

func (a *answers) Do(context.Context, *fetch.Request) (*fetch.Response, error) {
	a.n++
	if a.n > len(a.errs) {
		return &fetch.Response{Body: io.NopCloser(strings.NewReader("good"))}, nil
	}
	err := a.errs[a.n-1]
	if p, ok := err.(page); ok {
		a.open++
		body := &observedBody{ReadCloser: io.NopCloser(strings.NewReader("bad")), onEnd: func(int64, error) { a.open-- }}
		return &fetch.Response{Fault: p.error, Body: body}, nil
	}
	return nil, err
}

func most() float64 { return 1 }

func refusedBy(host string) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("%s: %w", host, syscall.ECONNREFUSED)}
}

func times(n int, err error) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = err
	}
	return all
}

func TestRetry(t *testing.T) {
	later := func(d time.Duration) error { return &fetch.Error{RetryAfter: d, Err: fetch.TryLater} }
	s := time.Second
	for _, c := range []struct {
		name  string
		errs  []error
		o     RetryOptions
		tries int
		took  time.Duration
		fault fetch.Fault
	}{
		{"at once", nil, RetryOptions{}, 1, 0, 0},
		{"passes", times(2, fetch.Timeout), RetryOptions{}, 3, 500*time.Millisecond + s, 0},
		{"does not pass", times(9, fetch.Connect), RetryOptions{}, 4, 3500 * time.Millisecond, fetch.Connect},
		{"one attempt", times(9, fetch.Connect), RetryOptions{Attempts: 1}, 1, 0, fetch.Connect},
		{"doubles to a minute", times(20, fetch.Timeout), RetryOptions{Attempts: 12, Total: -1}, 12, 63500*time.Millisecond + 4*time.Minute, fetch.Timeout},
		{"no more time", times(99, fetch.Timeout), RetryOptions{Attempts: 99}, 16, 63500*time.Millisecond + 8*time.Minute, fetch.Timeout},
		{"little time", times(9, fetch.Timeout), RetryOptions{Total: s}, 2, 500 * time.Millisecond, fetch.Timeout},
		{"exactly enough time", times(9, fetch.Timeout), RetryOptions{Total: 500 * time.Millisecond}, 2, 500 * time.Millisecond, fetch.Timeout},
		{"fixed delay", times(9, fetch.Timeout), RetryOptions{Delay: 7 * s}, 4, 21 * s, fetch.Timeout},
		{"as long as asked", []error{later(90 * s)}, RetryOptions{Delay: s}, 2, 90 * s, 0},
		{"not as long as asked", []error{later(time.Hour)}, RetryOptions{Total: -1}, 2, 10 * time.Minute, 0},
		{"longer than there is time", []error{later(time.Hour)}, RetryOptions{Total: time.Minute}, 1, 0, fetch.TryLater},
		{"page of a server", []error{page{later(2 * s)}}, RetryOptions{}, 2, 2 * s, 0},
		{"refused once", []error{refusedBy("h")}, RetryOptions{}, 2, 500 * time.Millisecond, 0},
		{"refused twice", times(9, refusedBy("h")), RetryOptions{}, 2, 500 * time.Millisecond, fetch.Connect},
		{"refused, all", times(9, refusedBy("h")), RetryOptions{AllErrors: true}, 4, 3500 * time.Millisecond, fetch.Connect},
		{"a proxy without CONNECT", times(9, fetch.Connect.With(&proxy.RefusedError{Proto: "http", Code: 501})), RetryOptions{}, 1, 0, fetch.Connect},
		{"refused by a proxy", times(9, fetch.Connect.With(&proxy.RefusedError{Proto: "http", Code: 403})), RetryOptions{}, 2, 500 * time.Millisecond, fetch.Connect},
		{"name server is slow", []error{&net.DNSError{Err: "x", IsTimeout: true}}, RetryOptions{}, 2, 500 * time.Millisecond, 0},
		{"no such name", []error{&net.DNSError{Err: "x", IsNotFound: true}}, RetryOptions{}, 1, 0, fetch.DNS},
		{"no such name, all", []error{&net.DNSError{Err: "x", IsNotFound: true}}, RetryOptions{AllErrors: true}, 2, 500 * time.Millisecond, 0},
		{"first one, then for good", []error{fetch.Timeout, fetch.NotFound}, RetryOptions{}, 2, 500 * time.Millisecond, fetch.NotFound},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.o.Jitter = most
			a := &answers{errs: c.errs}
			began := time.Now()
			resp, err := Retry(c.o)(a).Do(t.Context(), aRequest)
			if took := time.Since(began); a.n != c.tries || took != c.took || fetch.FaultOf(err) != c.fault || a.open != 0 {
				t.Errorf("%s: %d attempts in %v, %v, %d pages open, want %d in %v, %v", c.name, a.n, took, err, a.open, c.tries, c.took, c.fault)
			}
			if err == nil {
				resp.Body.Close()
			}
		})
	}
}

// TestRetrySession checks that a session is repeated only with AllErrors.
func TestRetrySession(t *testing.T) {
	for scheme, all := range map[string]bool{"telnet": false, "rlogin": false, "tn3270": true} {
		synctest.Test(t, func(t *testing.T) {
			a := &answers{errs: times(9, fetch.Timeout)}
			_, err := Retry(RetryOptions{AllErrors: all})(a).Do(t.Context(), request(scheme+"://h/"))
			if want := map[bool]int{false: 1, true: 4}[all]; a.n != want || !errors.Is(err, fetch.Timeout) {
				t.Errorf("%s: %d attempts, want %d: %v", scheme, a.n, want, err)
			}
		})
	}
}

func TestRetryFaults(t *testing.T) {
	once := []fetch.Fault{
		fetch.Internal, fetch.Usage, fetch.BadURL, fetch.NeedQuery, fetch.Local, fetch.Exists, fetch.InUse, fetch.DiskFull,
		fetch.Auth, fetch.BadPort, fetch.BadAddress, fetch.BadReferral, fetch.TooLarge, fetch.Bomb, fetch.Loop,
		fetch.Unsupported, fetch.Canceled,
	}
	all := []fetch.Fault{fetch.DNS, fetch.TLS, fetch.Protocol, fetch.NotFound, fetch.Denied, fetch.Mismatch}
	always := []fetch.Fault{fetch.Connect, fetch.Timeout, fetch.TryLater, fetch.Truncated}
	if n := len(once) + len(all) + len(always); n != int(fetch.Canceled) {
		t.Errorf("%d faults judged of %d", n, fetch.Canceled)
	}
	for _, set := range []struct {
		faults    []fetch.Fault
		some, all int
	}{{once, 1, 1}, {all, 1, 2}, {always, 2, 2}} {
		for _, f := range set.faults {
			for want, o := range map[*int]RetryOptions{&set.some: {}, &set.all: {AllErrors: true}} {
				synctest.Test(t, func(t *testing.T) {
					a := &answers{errs: []error{f.Errorf("x")}}
					if resp, err := Retry(o)(a).Do(t.Context(), aRequest); err == nil {
						resp.Body.Close()
					}
					if a.n != *want {
						t.Errorf("%v, all %v: %d attempts, want %d", f, o.AllErrors, a.n, *want)
					}
				})
			}
		}
	}
}

// TestRetryErrorPage checks that the caller gets the unread error page of the
// last attempt.
func TestRetryErrorPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &answers{errs: times(9, page{fetch.TryLater})}
		resp, err := Retry(RetryOptions{})(a).Do(t.Context(), aRequest)
		if err != nil || !errors.Is(resp.Fault, fetch.TryLater) || a.open != 1 {
			t.Fatalf("got %v, %v, %d pages open", resp, err, a.open)
		}
		if b, err := io.ReadAll(resp.Body); string(b) != "bad" || err != nil {
			t.Errorf("got %q, %v", b, err)
		}
		resp.Body.Close()
	})
}

func TestJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := map[time.Duration]bool{}
		for range 20 {
			began := time.Now()
			a := &answers{errs: times(1, fetch.Timeout)}
			if resp, err := Retry(RetryOptions{})(a).Do(t.Context(), aRequest); err == nil {
				resp.Body.Close()
			}
			took := time.Since(began)
			seen[took] = true
			if took < 0 || took > firstDelay {
				t.Errorf("waited %v, want up to %v", took, firstDelay)
			}
		}
		if len(seen) < 15 {
			t.Errorf("%d delays among 20 differ: a crowd would stay one", len(seen))
		}
	})
}

func TestRetryNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type note struct {
			made, left int
			wait       time.Duration
			err        error
		}
		var notes []note
		again := 0
		req := aRequest.Clone()
		req.Trace = &trace.Trace{Restart: func() { again++ }}
		o := RetryOptions{Jitter: most, Notify: func(_ context.Context, a Attempt) {
			if a.Request.URL != req.URL {
				t.Errorf("told of %v", a.Request.URL)
			}
			notes = append(notes, note{a.Count, a.Remaining, a.Wait, a.Err})
		}}
		refused := refusedBy("h")
		a := &answers{errs: []error{refused, fetch.Timeout, fetch.Connect}}
		resp, err := Retry(o)(a).Do(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		want := []note{{1, 1, 500 * time.Millisecond, refused}, {2, 2, time.Second, fetch.Timeout}, {3, 1, 2 * time.Second, fetch.Connect}}
		if !reflect.DeepEqual(notes, want) || again != 3 {
			t.Errorf("told %v, again %d times, want %v and 3", notes, again, want)
		}
	})
}

// TestWaitRetry checks that WaitRetry uses the same delays as Retry.
func TestWaitRetry(t *testing.T) {
	for _, c := range []struct {
		o     RetryOptions
		since time.Duration // time since the first attempt
		n     int
		err   error
		want  bool
		took  time.Duration
	}{
		{RetryOptions{}, 0, 1, fetch.Truncated, true, 500 * time.Millisecond},
		{RetryOptions{}, 0, 3, fetch.Truncated, true, 2 * time.Second},
		{RetryOptions{}, 0, 4, fetch.Truncated, false, 0},
		{RetryOptions{}, 0, 1, fetch.NotFound, false, 0},
		{RetryOptions{AllErrors: true, Delay: time.Second}, 0, 1, fetch.NotFound, true, time.Second},
		{RetryOptions{Total: time.Minute}, time.Minute, 1, fetch.Truncated, false, 0},
		{RetryOptions{Delay: 2 * time.Hour, Total: -1}, 0, 1, fetch.Truncated, false, time.Hour}, // ctx ends
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			c.o.Jitter = most
			began := time.Now()
			ok := c.o.WaitRetry(ctx, aRequest, began.Add(-c.since), c.n, c.err)
			if took := time.Since(began); ok != c.want || took != c.took {
				t.Errorf("%+v after %d: %v after %v, want %v, %v", c.o, c.n, ok, took, c.want, c.took)
			}
		})
	}
}

// TestRetryCancel checks that the end of ctx ends the delay.
func TestRetryCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(gone) })
		a := &answers{errs: times(9, fetch.Timeout)}
		began := time.Now()
		_, err := Retry(RetryOptions{Delay: time.Hour, Total: -1})(a).Do(ctx, aRequest)
		if took := time.Since(began); took != 3*time.Second || err != gone || a.n != 1 {
			t.Errorf("got %v after %v and %d attempts", err, took, a.n)
		}
	})
}
