package warc

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
)

// TestNearest selects from more lines than are kept.
func TestNearest(t *testing.T) {
	start := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name     string
		at       int // minute, or -1 for no time
		want     int // minute of the chosen capture
		wantNote string
	}{
		{"latest", -1, 9999, "the capture is an error of the server; the object was captured at 20200107223600"},
		{"nearest", 5000, 5000, ""},
		{"before the first", 0, 0, ""},
	} {
		n := nearest{Archive: &Archive{}}
		if tc.at >= 0 {
			n.Time = start.Add(time.Duration(tc.at) * time.Minute)
		}
		for i := range 10_000 {
			status := "200"
			if i > 9996 {
				status = "404"
			}
			at := start.Add(time.Duration(i) * time.Minute).Format("20060102150405")
			n.add(Line{Key: "k", Timestamp: at, Status: status, URL: fmt.Sprint(i)})
		}
		if len(n.lines) > 2*maxOpened+1 {
			t.Errorf("%s: kept %d lines", tc.name, len(n.lines))
		}
		long := Line{Key: "k", Timestamp: "19990101000000", Digest: strings.Repeat("x", 1<<20)}
		for range 100 {
			n.add(long)
		}
		if n.add(long); n.size > 2*maxKept+1<<20 {
			t.Errorf("%s: kept %d bytes", tc.name, n.size)
		}
		chosen := n.sorted()[0]
		note := ""
		n.noteSuccess(&trace.Trace{Note: func(text string) { note = text }}, chosen)
		if chosen.URL != fmt.Sprint(tc.want) || note != tc.wantNote {
			t.Errorf("%s: got %v with the note %q", tc.name, chosen, note)
		}
	}
}

// TestKeptLines checks how many lines are kept, and that they are the nearest
// ones. Replay opens at most maxOpened of them. Another one shows that there are
// more.
func TestKeptLines(t *testing.T) {
	for _, tc := range []struct {
		name  string
		count int
		size  int // of each line
		want  int
	}{
		{"as many as are kept", 2 * maxOpened, 100, 2 * maxOpened},
		{"one more", 2*maxOpened + 1, 100, maxOpened + 1},
		{"as long as are kept", 2 * maxKept / (64 << 10), 64 << 10, 2 * maxKept / (64 << 10)},
		{"one more long line", 2*maxKept/(64<<10) + 1, 64 << 10, maxKept / (64 << 10)},
		{"a line that is longer than the limit", 1, 2*maxKept + 1, 1},
		{"two of these lines", 2, 2*maxKept + 1, 1},
	} {
		n := nearest{Archive: &Archive{}}
		for i := range tc.count {
			l := Line{Key: "k", Timestamp: fmt.Sprint(20200101000000 + i)}
			l.Digest = strings.Repeat("x", tc.size-l.size())
			n.add(l)
		}
		lines := n.sorted()
		if len(lines) != tc.want || n.size != tc.want*tc.size {
			t.Errorf("%s: kept %d lines with %d bytes, want %d", tc.name, len(lines), n.size, tc.want)
		}
		for i, l := range lines {
			if want := fmt.Sprint(20200101000000 + tc.count - 1 - i); l.Timestamp != want {
				t.Errorf("%s: line %d is %s, want %s", tc.name, i, l.Timestamp, want)
				break
			}
		}
	}
}

// TestNoteSuccess checks for which captures a note mentions a successful one.
func TestNoteSuccess(t *testing.T) {
	for _, tc := range []struct {
		name, other, chosen string // status codes
		want                bool
	}{
		{"an error of the client", "200", "400", true},
		{"an error of the server", "200", "599", true},
		{"no error", "200", "399", false},
		{"an unknown code", "200", "600", false},
		{"no code", "200", "", false},
		{"a success", "200", "204", false},
		{"no other success", "302", "404", false},
	} {
		n := nearest{Archive: &Archive{}}
		n.add(Line{Key: "k", Timestamp: "20200101000000", Status: tc.other})
		noted := false
		n.noteSuccess(&trace.Trace{Note: func(string) { noted = true }}, Line{Status: tc.chosen})
		if noted != tc.want {
			t.Errorf("%s: noted: %v", tc.name, noted)
		}
	}
}

// TestLongLines verifies that a forged index with long lines uses little memory.
func TestLongLines(t *testing.T) {
	if testing.Short() {
		t.Skip("reads lines of 1 MiB")
	}
	const count = 100
	long := strings.Repeat("x", 1<<20-200)
	for name, text := range map[string]string{
		"digest":         `"digest":"` + long + `"`,
		"unknown member": `"digest":"x","other":"` + long + `"`,
	} {
		n := nearest{Archive: &Archive{}}
		lines := byPosition(func(yield func(Line, error) bool) {
			for i := range count {
				l, err := ParseLine(fmt.Sprintf(`k 20200101000000 {"url":"http://h.example/","offset":"%d",%s}`, i, text))
				if !yield(l, err) {
					return
				}
			}
		})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		peak := uint64(0)
		for l, err := range lines {
			if err != nil {
				t.Fatal(err)
			}
			n.add(l)
			if runtime.ReadMemStats(&after); after.HeapAlloc > before.HeapAlloc+32<<20 {
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
			peak = max(peak, after.HeapAlloc)
		}
		if used := int64(peak) - int64(before.HeapAlloc); used > 40<<20 || n.sorted()[0].Offset != count-1 {
			t.Errorf("%s: %d MiB in memory, offset %d", name, used>>20, n.sorted()[0].Offset)
		}
		runtime.KeepAlive(text)
	}
}
