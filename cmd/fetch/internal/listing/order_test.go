package listing

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestOrder checks the orders of entries with equal, unknown and extreme values.
func TestOrder(t *testing.T) {
	at := func(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
	entries := []fetch.Entry{
		{Name: "text", Kind: fetch.Info},
		{Name: "ab", Kind: fetch.Document, Size: 5, Time: at(2026)},
		{Name: "abc", Kind: fetch.Document, Size: 1 << 62, Time: at(1969)},
		{Name: "d", Kind: fetch.Menu, Size: -1},
		{Name: "a", Kind: fetch.Document, Size: 0, Time: at(2026).Add(time.Nanosecond)},
		{Name: "a", Kind: fetch.Document, Size: 0, Time: at(2026).Add(time.Nanosecond)},
		{Name: "\xff\n\x00", Kind: fetch.Document, Size: 5, Time: at(1970)},
	}
	write := func(w io.Writer, e fetch.Entry) error {
		_, err := fmt.Fprintf(w, "%q\n", e.Name)
		return err
	}
	last := `"\xff\n\x00"`
	for _, c := range []struct {
		oddity string
		order  Order
		want   string
	}{
		{"order of the server", Order{}, `"text" "ab" "abc" "d" "a" "a" ` + last},
		{"name", Order{by: "name"}, `"a" "a" "ab" "abc" "d" ` + last},
		{"only --reverse", Order{reverse: true}, last + ` "d" "abc" "ab" "a" "a"`},
		{"newest first, unknown last", Order{by: "time"}, `"a" "a" "ab" ` + last + ` "abc" "d"`},
		{"oldest first, unknown last", Order{by: "time", reverse: true}, `"abc" ` + last + ` "ab" "a" "a" "d"`},
		{"largest first, equal sizes by name", Order{by: "size"}, `"abc" "ab" ` + last + ` "a" "a" "d"`},
		{"smallest first", Order{by: "size", reverse: true}, `"a" "a" ` + last + ` "ab" "abc" "d"`},
	} {
		var out strings.Builder
		err := c.order.Validate()
		if err == nil {
			err = c.order.WriteAll(write, &out, func(yield func(fetch.Entry, error) bool) {
				for _, e := range entries {
					if !yield(e, nil) {
						return
					}
				}
			})
		}
		if got := strings.Join(strings.Fields(out.String()), " "); err != nil || got != c.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", c.oddity, err, got, c.want)
		}
	}
}

// TestOrderFailure checks that the entries before an error are written, and that
// an entry can have two lines.
func TestOrderFailure(t *testing.T) {
	var out strings.Builder
	order := Order{by: "name"}
	failed := errors.New("truncated")
	err := order.WriteAll(func(w io.Writer, e fetch.Entry) error {
		_, err := fmt.Fprintf(w, "%s\n  second\n", e.Name)
		return err
	}, &out, func(yield func(fetch.Entry, error) bool) {
		_ = yield(fetch.Entry{Name: "b"}, nil) && yield(fetch.Entry{Name: "a"}, nil) && yield(fetch.Entry{}, failed)
	})
	if want := "a\n  second\nb\n  second\n"; !errors.Is(err, failed) || out.String() != want {
		t.Errorf("got %v, %q, want %q", err, &out, want)
	}
	if err := (&Order{by: "date"}).Validate(); fetch.FaultOf(err) != fetch.Usage {
		t.Errorf("unknown key: %v", err)
	}
}

// FuzzOrder compares the order of names with that of package slices.
func FuzzOrder(f *testing.F) {
	f.Add("b\na\nab\n\xff", true)
	f.Fuzz(func(t *testing.T, text string, reverse bool) {
		names := strings.Split(text, "\n")
		want := slices.Clone(names)
		slices.Sort(want)
		if reverse {
			slices.Reverse(want)
		}
		var got []string
		s := NewSorter(Order{by: "name", reverse: reverse})
		defer s.Close()
		for _, name := range names {
			if len(name) > maxSortedName {
				t.Skip()
			}
			if err := s.Add(fetch.Entry{Name: name}, func(w io.Writer, e fetch.Entry) error { _, err := fmt.Fprintf(w, "%q\n", e.Name); return err }); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if err := s.Flush(&out); err != nil {
			t.Fatal(err)
		}
		for _, name := range want {
			got = append(got, fmt.Sprintf("%q", name))
		}
		if want := strings.Join(got, "\n") + "\n"; out.String() != want {
			t.Errorf("got %q, want %q", &out, want)
		}
	})
}
