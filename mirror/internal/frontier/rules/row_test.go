package rules

import (
	"errors"
	"testing"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestPages reads pages of a database that sends the same page again.
func TestPages(t *testing.T) {
	for _, c := range []struct {
		name  string
		last  []int64 // number of the last row of each page
		rows  int
		fails bool
	}{
		{"three pages", []int64{2, 4, 5}, 3, false},
		{"the last page is empty", []int64{2, 0}, 2, false},
		{"the same page again", []int64{2, 2, 2}, 1, true},
		{"an earlier page", []int64{2, 4, 3, 4}, 2, true},
	} {
		n, rows := 0, 0
		var failed error
		for _, err := range Pages(func(int64) (page []int, last int64, more bool, err error) {
			n++
			return []int{n}, c.last[n-1], n < len(c.last), nil
		}) {
			if failed = err; err == nil {
				rows++
			}
		}
		if rows != c.rows || c.fails != errors.Is(failed, frontier.ErrDamaged) || !c.fails && failed != nil {
			t.Errorf("%s: got %d rows, %v", c.name, rows, failed)
		}
	}
}
