package mailstore

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMessageDate tests that a message without a Date field gets the time when
// the server received it.
func TestMessageDate(t *testing.T) {
	received := time.Date(2019, 7, 17, 11, 44, 25, 0, time.FixedZone("", 2*60*60))
	const trace = "Received: from a by b; Tue, 16 Jul 2019 00:00:09 +0000\nReceived: from c by a; Mon, 15 Jul 2019 00:00:00 +0000\n"
	for name, c := range map[string]struct {
		message  string
		received time.Time
		want     string // in UTC
	}{
		"Date":                  {"Date: Fri, 20 Nov 2026 14:32:15 +0100\n" + trace + "\n", received, "Fri Nov 20 13:32:15 2026"},
		"no Date":               {"Subject: x\n" + trace + "\n", received, "Wed Jul 17 09:44:25 2019"},
		"invalid Date":          {"Date: soon\n\n", received, "Wed Jul 17 09:44:25 2019"},
		"Date before 1970":      {"Date: Fri, 20 Nov 1926 14:32:15 +0100\n\n", received, "Wed Jul 17 09:44:25 2019"},
		"only a Received field": {trace + "\n", time.Time{}, "Tue Jul 16 00:00:09 2019"},
		"Received without a ;":  {"Received: from a by b\n\n", time.Time{}, "Thu Jan  1 00:00:00 1970"},
		"no date":               {"Subject: x\n\n", time.Time{}, "Thu Jan  1 00:00:00 1970"},
		"received before 1970":  {"Subject: x\n\n", time.Date(1926, 1, 1, 0, 0, 0, 0, time.UTC), "Thu Jan  1 00:00:00 1970"},
	} {
		var b strings.Builder
		if err := NewMbox(&b).Append(strings.NewReader(c.message), c.received); err != nil {
			t.Fatal(err)
		}
		if got, _, _ := strings.Cut(b.String(), "\n"); got != "From MAILER-DAEMON "+c.want {
			t.Errorf("%s: got %q", name, got)
		}
		when, _ := time.Parse(time.ANSIC, c.want)
		for m, err := range ReadMbox(strings.NewReader(b.String())) {
			if known := when.Unix() != 0; err != nil || known != !m.Received.IsZero() || known && !m.Received.Equal(when) {
				t.Errorf("%s: read %v, %v", name, m.Received, err)
			}
		}
		d := OpenMaildir(t.TempDir())
		if err := d.Create(); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Deliver(strings.NewReader(c.message), c.received); err != nil {
			t.Fatal(err)
		}
		for path := range d.Messages() {
			if seconds, _, _ := strings.Cut(filepath.Base(path), "."); seconds != strconv.FormatInt(when.Unix(), 10) {
				t.Errorf("%s: delivered as %s", name, path)
			}
		}
	}
}
