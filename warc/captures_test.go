package warc

import (
	"fmt"
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
		chosen := n.sorted()[0]
		note := ""
		n.noteSuccess(&trace.Trace{Note: func(text string) { note = text }}, chosen)
		if chosen.URL != fmt.Sprint(tc.want) || note != tc.wantNote {
			t.Errorf("%s: got %v with the note %q", tc.name, chosen, note)
		}
	}
}
