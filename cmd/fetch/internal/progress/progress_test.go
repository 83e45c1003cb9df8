package progress

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/wrap"
)

var fullDownload = Snapshot{URL: "http://localhost:18090/pub/disk.iso", Bytes: 21 << 20, Size: 48 << 20, Rate: 10.7 * (1 << 20),
	Elapsed: 2, ETA: 3, Retries: 1, started: true}

// TestLine checks lines at several widths. Parts of low rank are omitted.
func TestLine(t *testing.T) {
	unknown, wide := fullDownload, fullDownload
	unknown.Size, unknown.ETA, unknown.Retries = 0, 0, 0
	wide.URL, wide.Retries = "http://h/世界世界世界世界世界世界", 0
	waiting := Snapshot{URL: "http://localhost/", Elapsed: 65}
	for _, c := range []struct {
		name  string
		s     Snapshot
		width int
		want  string
	}{
		{"narrow", fullDownload, 40, "…090/pub/disk.iso  21.0 MiB  10.7 MiB/s"},
		{"80 columns", fullDownload, 80, "…18090/pub/disk.iso  21.0 MiB / 48.0 MiB  10.7 MiB/s  0:02  eta 0:03, 1 retried"},
		{"120 columns", fullDownload, 120,
			"http://localhost:18090/pub/disk.iso  [========>------------] 21.0 MiB / 48.0 MiB  10.7 MiB/s  0:02  eta 0:03, 1 retried"},
		{"unknown size", unknown, 80, "http://localhost:18090/pub/disk.iso                  21.0 MiB  10.7 MiB/s  0:02"},
		{"wide characters", wide, 80, "…界世界世界   [=====>---------] 21.0 MiB / 48.0 MiB  10.7 MiB/s  0:02  eta 0:03"},
		{"waiting", waiting, 80, "http://localhost/                                waiting for the response  1:05"},
		{"no limit", fullDownload, 0, "http://localhost:18090/pub/disk.iso  21.0 MiB / 48.0 MiB  10.7 MiB/s  0:02  eta 0:03, 1 retried"},
	} {
		if got := c.s.line(c.s.parts(), c.width, true); got != c.want {
			t.Errorf("%s: got\n%s, want\n%s", c.name, got, c.want)
		}
	}
}

// TestLineWidth checks that no line reaches the last column, and that a line
// with a bar fills the others.
func TestLineWidth(t *testing.T) {
	crawl := Snapshot{URL: "http://h/世界/e\u0301.html", Bytes: 1 << 40, Rate: 1e9, Elapsed: 1e6, ETA: 1e6, Done: 1e9, Failed: 1e6, Retries: 9,
		Unchanged: 1e9, Left: 1e9, Hosts: 1e6, started: true}
	short := fullDownload
	short.URL = "http://h/"
	for width := 1; width <= 200; width++ {
		for _, line := range []string{
			fullDownload.line(fullDownload.parts(), width, true), short.line(short.parts(), width, true),
			crawl.line(crawl.parts(), width, true), crawl.line(crawl.crawlParts(), width, false),
		} {
			if n := tty.Width(line); n >= width {
				t.Errorf("%d columns at width %d: %q", n, width, line)
			} else if width >= 40 && n != width-1 && strings.Contains(line, "[") {
				t.Errorf("only %d columns at width %d: %q", n, width, line)
			}
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1 << 10: "1.0 KiB", 1<<20 - 1: "1.0 MiB", 3 << 29: "1.5 GiB", 1<<63 - 1: "8.0 EiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	for seconds, want := range map[float64]string{0: "0:00", 59.6: "1:00", 3599: "59:59", 7265: "2:01:05", 1e300: "277777:46:40"} {
		if got := clock(seconds); got != want {
			t.Errorf("%v: got %q, want %q", seconds, got, want)
		}
	}
}

// TestDownloads checks the lines of a download that is waiting, moving and
// complete, and the totals of two URLs.
func TestDownloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDownloads()
		last := ""
		d.Ended = func(line func(int) string) { last = line(0) }
		lines := func(want ...string) {
			t.Helper()
			if got := strings.Join(d.Lines(0), "\n"); got != strings.Join(want, "\n") {
				t.Errorf("got\n%s, want\n%s", got, strings.Join(want, "\n"))
			}
		}
		lines()
		end := d.Begin("http://u:s3cret@h/a\x1b")
		lines(`http://u:***@h/a\x1b  waiting for the response  0:00`)
		d.Retry()
		e := wrap.Event{ID: 7, URL: uri.MustParse("http://u:s3cret@h/a"), Offset: 1 << 20, Size: 4 << 20}
		d.Update(e)
		time.Sleep(2 * time.Second)
		e.State, e.Bytes = wrap.Moving, 1<<20
		d.Update(e)
		lines("http://h/a  2.0 MiB / 4.0 MiB  512.0 KiB/s  0:02  eta 0:04, 1 retried")
		other := d.Begin("h/b")
		lines("http://h/a  2.0 MiB / 4.0 MiB  512.0 KiB/s  0:02  eta 0:04", "0 done, 2 under way, 1 retried  1.0 MiB  512.0 KiB/s  0:02")
		other(errors.New("refused"))
		lines("http://h/a  2.0 MiB / 4.0 MiB  512.0 KiB/s  0:02  eta 0:04", "0 done, 1 under way, 1 failed, 1 retried  1.0 MiB  512.0 KiB/s  0:02")
		time.Sleep(4 * time.Second)
		e.State, e.Bytes = wrap.Ended, 3<<20
		d.Update(e)
		lines("0 done, 1 under way, 1 failed, 1 retried  3.0 MiB  512.0 KiB/s  0:06")
		end(nil)
		lines()
		if want := "http://h/a  4.0 MiB / 4.0 MiB  512.0 KiB/s  0:06"; last != want {
			t.Errorf("got %q, want %q", last, want)
		}
		if s := d.Snapshot(); s.Done != 1 || s.Failed != 1 || s.Retries != 1 || s.Active != 0 {
			t.Errorf("got %+v", s)
		}
	})
}

// TestCrawl checks the line of a mirror.
func TestCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewCrawl()
		c.Update(mirror.Progress{Summary: mirror.Summary{New: 3, Failed: 1, Unchanged: 2, Pending: 12}, Hosts: 2})
		c.UpdateBody(wrap.Event{ID: 1, URL: uri.MustParse("http://h/first"), Size: -1})
		c.UpdateBody(wrap.Event{ID: 1, State: wrap.Ended, Bytes: 1 << 20})
		c.UpdateBody(wrap.Event{ID: 2, URL: uri.MustParse("http://h/next"), Size: -1})
		c.UpdateBody(wrap.Event{ID: 2, State: wrap.Moving, Bytes: 1 << 20})
		time.Sleep(4 * time.Second)
		s := c.Snapshot()
		if got, want := s.CrawlText(), "http://h/next  3 new, 2 unchanged, 1 failed, 12 left, hosts: 2  2.0 MiB  512.0 KiB/s  0:04  eta 0:08"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := fmt.Sprint(c.Lines(80)), "[http://h/next   3 new, 1 failed, 12 left, hosts: 2  512.0 KiB/s  0:04  eta 0:08]"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// TestScreen checks the bytes that a Screen writes: status lines are replaced,
// text appears above them, a prompt hides them, and Close removes them.
func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var out bytes.Buffer
		write := writerFunc(func(p []byte) (int, error) { mu.Lock(); defer mu.Unlock(); return out.Write(p) })
		n := 0
		s := NewScreen(write, func(width int) []string { n++; return []string{fmt.Sprint("status ", n)} })
		expect := func(want string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if got := out.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			out.Reset()
		}
		expect("")
		time.Sleep(refresh)
		expect("status 1\n")
		time.Sleep(refresh)
		expect("\r\x1b[1A\x1b[Jstatus 2\n")
		fmt.Fprint(s, "note\n")
		expect("\r\x1b[1A\x1b[Jnote\nstatus 3\n")
		fmt.Fprint(s, "User: ")
		expect("\r\x1b[1A\x1b[JUser: ")
		time.Sleep(3 * refresh)
		expect("")
		fmt.Fprint(s, "\n")
		expect("\n")
		time.Sleep(refresh)
		expect("status 4\n")
		s.Close()
		expect("\r\x1b[1A\x1b[J")
		fmt.Fprint(s, "error\n")
		expect("error\n")
	})
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
