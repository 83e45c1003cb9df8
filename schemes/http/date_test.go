package http

import (
	"net/http"
	"testing"
	"time"
)

// FuzzParseTime compares parseTime with http.ParseTime.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{
		"Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT",
		"Thu, 29 Feb 2024 23:59:59 GMT", "Wed, 29 Feb 2023 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
		"unM, 06 Nov 1994 08:49:37 GMT", "Sun, 06 anF 1994 08:49:37 GMT", "Sun,  6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 0000 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37.5 GMT", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseTime(s)
		want, wrong := http.ParseTime(s)
		if (err == nil) != (wrong == nil) || !got.Equal(want) || got.Location().String() != want.Location().String() {
			t.Errorf("%q: %v, %v, want %v, %v", s, got, err, want, wrong)
		}
	})
}

func TestFixdate(t *testing.T) {
	for day := time.Date(1960, 1, 1, 12, 34, 56, 0, time.UTC); day.Year() < 2110; day = day.AddDate(0, 0, 1) {
		if got, ok := fixdate(day.Format(http.TimeFormat)); !ok || got != day {
			t.Fatalf("%v: %v, %v", day, got, ok)
		}
	}
}
