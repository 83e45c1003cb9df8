package warc

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch/trace"
	"github.com/anyurl/fetch/uri"
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

// TestNoteSuccess checks for which captures a note mentions a successful one, and
// that this is the nearest one.
func TestNoteSuccess(t *testing.T) {
	for _, tc := range []struct {
		name   string
		others []string // status codes of one day each, from 1 January
		chosen string   // status code
		want   string   // day in the note
	}{
		{"an error of the client", []string{"200"}, "400", "01"},
		{"an error of the server", []string{"200"}, "599", "01"},
		{"no error", []string{"200"}, "399", ""},
		{"an unknown code", []string{"200"}, "600", ""},
		{"no code", []string{"200"}, "", ""},
		{"a success", []string{"200"}, "204", ""},
		{"no other success", []string{"302", "404"}, "404", ""},
		{"several successes", []string{"302", "200", "299", "404", "204", "500"}, "404", "03"},
		{"a success before and after the time", []string{"200", "404", "404", "404", "200"}, "404", "05"},
	} {
		n := nearest{Archive: &Archive{}}
		n.Time = time.Date(2020, 1, 3, 0, 0, 0, 0, time.UTC)
		for i, status := range tc.others {
			n.add(Line{Key: "k", Timestamp: fmt.Sprintf("202001%02d000000", i+1), Status: status})
		}
		note := ""
		n.noteSuccess(&trace.Trace{Note: func(text string) { note = text }}, Line{Status: tc.chosen})
		if _, at, _ := strings.Cut(note, "captured at 202001"); strings.TrimSuffix(at, "000000") != tc.want {
			t.Errorf("%s: note %q, want day %q", tc.name, note, tc.want)
		}
	}
}

// TestCapturesOfRevisits checks that the entry of a revisit record has the size
// and the media type of its original.
func TestCapturesOfRevisits(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n\r\n"
	revisit := func(id int, date, of string) string {
		return strings.Replace(rec(id, "WARC-Type: revisit\nWARC-Target-URI: http://h.example/\nContent-Type: application/http;msgtype=response"+
			"\nWARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"+
			"\nWARC-Refers-To-Target-URI: http://h.example/\nWARC-Refers-To-Date: "+of, "HTTP/1.1 304 Not Modified\r\n\r\n"), "2026-11-21T08:30:00Z", date, 1)
	}
	a := openBytes(t, "a.warc", []byte(web(1, "", answer+"hello")+
		revisit(2, "2026-11-22T08:30:00Z", "2026-11-21T08:30:00Z")+
		revisit(3, "2026-11-23T08:30:00Z", "2026-11-22T08:30:00Z")+
		revisit(4, "2026-11-24T08:30:00Z", "2025-11-22T08:30:00Z")))
	got := ""
	for e, err := range a.Captures(t.Context(), uri.MustParse("http://h.example/")) {
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s %d %s, ", e.Time.Format("02"), e.Size, e.Media)
	}
	if want := "21 5 text/css, 22 5 text/css, 23 5 text/css, 24 -1 , "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLookupMethods checks that a lookup finds the captures of other methods than
// GET if there are no others, and only those of its URL.
func TestLookupMethods(t *testing.T) {
	dir := testFolder(t)
	w := testWriter(t, dir, testOptions())
	var file string
	for i, request := range []string{"GET /a?x=1", "POST /a?x=1", "POST /b?x=1", "PUT /b?x=1", "POST /b?x=2", "POST /b"} {
		method, path, _ := strings.Cut(request, " ")
		c := at("http://h.example"+path, i)
		file = mustWrite(t, w, c.Response(text(plainAnswer)), c.Request(text(method+" "+path+" HTTP/1.1\r\nHost: h.example\r\n\r\n")))[0].File
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a, err := Open(filepath.Join(dir.Name(), file))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for path, want := range map[string]int{"/a?x=1": 1, "/a": 0, "/b?x=1": 2, "/b?x=2": 1, "/b?x=3": 0, "/b": 1} {
		n := 0
		for l, err := range a.Lookup(uri.MustParse("http://h.example" + path)) {
			if n++; err != nil || l.URL != "http://h.example"+path {
				t.Errorf("%s: got %v, %v", path, l, err)
			}
		}
		if n != want {
			t.Errorf("%s: %d captures, want %d", path, n, want)
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
