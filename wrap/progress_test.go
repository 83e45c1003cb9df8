package wrap

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
)

// slow is a Reader that returns one byte per call, after d.
type slow struct {
	io.Reader
	d time.Duration
}

func (s *slow) Read(p []byte) (int, error) {
	time.Sleep(s.d)
	return s.Reader.Read(p[:min(1, len(p))])
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []Event
		d := Progress(func(e Event) { events = append(events, e) })(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			time.Sleep(time.Second)
			return &fetch.Response{Size: 1000, Offset: 900, Body: io.NopCloser(&slow{strings.NewReader(strings.Repeat("x", 100)), 10 * time.Millisecond})}, nil
		}))
		resp, err := d.Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if len(events) != 12 { // Started, ten times Moving, Ended
			t.Fatalf("got %d events: %+v", len(events), events)
		}
		for i, e := range events {
			want := Event{ID: 1, State: Moving, URL: aRequest.URL, Offset: 900, Bytes: int64(10 * i), Size: 1000, Time: time.Second + time.Duration(i)*interval}
			switch i {
			case 0:
				want.State = Started
			case 11:
				want.State, want.Bytes, want.Time = Ended, 100, 2*time.Second+10*time.Millisecond
			}
			if e != want {
				t.Errorf("%d: got %+v, want %+v", i, e, want)
			}
		}
	})
}

// TestProgressEnded checks that each body has an Ended event with the right
// error.
func TestProgressEnded(t *testing.T) {
	var last Event
	body := func(r io.Reader) *fetch.Response { return &fetch.Response{Body: io.NopCloser(r)} }
	d := func(resp *fetch.Response) fetch.Driver {
		return Progress(func(e Event) { last = e })(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) { return resp, nil }))
	}
	for name, c := range map[string]struct {
		r     io.Reader
		read  bool
		fault fetch.Fault
	}{
		"whole":   {strings.NewReader("hello"), true, 0},
		"empty":   {strings.NewReader(""), true, 0},
		"broken":  {io.MultiReader(strings.NewReader("he"), &failing{fetch.Truncated}), true, fetch.Truncated},
		"refused": {strings.NewReader("hello"), false, fetch.Canceled},
	} {
		resp, err := d(body(c.r)).Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		if c.read {
			io.Copy(io.Discard, resp.Body)
		}
		resp.Body.Close()
		if last.State != Ended || fetch.FaultOf(last.Err) != c.fault {
			t.Errorf("%s: got %+v, want it ended with %v", name, last, c.fault)
		}
	}
}

// TestNoProgress checks that responses without a body for the caller cause no
// events.
func TestNoProgress(t *testing.T) {
	told := 0
	for name, c := range map[string]struct {
		req  fetch.Request
		resp fetch.Response
		err  error
		want int
	}{
		"an error":              {err: fetch.Connect},
		"a redirect":            {resp: fetch.Response{Location: uri.MustParse("http://x/")}},
		"a redirect to be seen": {req: fetch.Request{NoFollow: true}, resp: fetch.Response{Location: uri.MustParse("http://x/")}, want: 2},
		"a page that says no":   {resp: fetch.Response{Fault: fetch.NotFound}},
		"such a page, wanted":   {req: fetch.Request{ErrorBody: true}, resp: fetch.Response{Fault: fetch.NotFound}, want: 2},
		"no body asked for":     {req: fetch.Request{Op: fetch.Stat}},
	} {
		told = 0
		d := Progress(func(Event) { told++ })(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			c.resp.Body = io.NopCloser(strings.NewReader(""))
			return &c.resp, c.err
		}))
		resp, err := d.Do(t.Context(), &c.req)
		if !errors.Is(err, c.err) {
			t.Fatal(err)
		}
		if err == nil {
			resp.Body.Close()
		}
		if told != c.want {
			t.Errorf("%s: told %d times, want %d", name, told, c.want)
		}
	}
}

// TestProgressID checks that each body has its own ID.
func TestProgressID(t *testing.T) {
	seen := map[uint64]int{}
	d := Progress(func(e Event) { seen[e.ID]++ })(holding(5))
	for range 3 {
		resp, err := d.Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if len(seen) != 3 || seen[1] != 2 {
		t.Errorf("got %v, want two events of each of three", seen)
	}
}

// TestProgressStall checks that the bytes before a stall are reported.
func TestProgressStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last Event
		r, w := io.Pipe()
		d := Progress(func(e Event) { last = e })(fetch.DriverFunc(func(context.Context, *fetch.Request) (*fetch.Response, error) {
			return &fetch.Response{Size: -1, Body: r}, nil
		}))
		resp, err := d.Do(t.Context(), aRequest)
		if err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, resp.Body)
		io.WriteString(w, "hello")
		time.Sleep(interval)
		synctest.Wait()
		if last.State != Moving || last.Bytes != 5 {
			t.Errorf("got %+v, want five bytes", last)
		}
		w.Close()
		synctest.Wait()
		if last.State != Ended || last.Bytes != 5 || last.Err != nil {
			t.Errorf("got %+v, want the end", last)
		}
	})
}
