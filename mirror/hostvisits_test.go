package mirror

import (
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestStorableTime checks that a time is stored unless its year has more than
// four digits.
func TestStorableTime(t *testing.T) {
	for _, c := range []struct {
		year int
		ok   bool
	}{{0, false}, {1, true}, {2026, true}, {9999, true}, {10000, false}, {38561, false}, {-5, false}} {
		in := time.Date(c.year, 7, 13, 1, 2, 3, 0, time.UTC)
		if got := storableTime(in); got.Equal(in) != c.ok || !c.ok && !got.IsZero() {
			t.Errorf("year %d: got %v", c.year, got)
		}
	}
}

// TestBatchLength checks which of the collected visits the next batch contains.
func TestBatchLength(t *testing.T) {
	for _, c := range []struct {
		name   string
		visits int   // number of collected visits
		links  []int // links of the first visits
		queue  int   // number of items in the queue
		want   int
	}{
		{"no visits", 0, nil, 0, 0},
		{"fewer visits than the limit", 3, nil, 0, 3},
		{"more visits than the limit", batchSize + 1, nil, 0, batchSize},
		{"fewer links than the limit", 3, []int{maxLinks - 1}, 0, 3},
		{"as many links as the limit", 3, []int{1, maxLinks - 1, 1}, 0, 2},
		{"a page with more links than the limit", 3, []int{2 * maxLinks}, 0, 1},
		{"a long queue", 3, []int{maxLinks, maxLinks, maxLinks}, claimSize, 3},
		{"a long queue, many links", 3, []int{1, maxManyLinks - 1, 1}, claimSize, 2},
	} {
		h := &hostWorker{queue: make([]frontier.Item, c.queue)}
		h.collected.timer = time.NewTimer(batchAge)
		for i := range c.visits {
			v := &visit{size: 1}
			if i < len(c.links) {
				v.children = make([]frontier.Item, c.links[i])
			}
			h.collected.add(v)
		}
		n := h.collected.batchLength(h.linkLimit())
		if n != c.want {
			t.Errorf("%s: got %d visits, want %d", c.name, n, c.want)
		}
		first := h.newBatch(n)
		last := h.newBatch(len(h.collected.visits))
		if len(first.visits)+len(last.visits) != c.visits || h.collected.bytes != 0 || h.collected.links != 0 || h.collected.visits != nil {
			t.Errorf("%s: batches of %d and %d visits; %d bytes and %d links are left", c.name, len(first.visits), len(last.visits), h.collected.bytes, h.collected.links)
		}
	}
}
