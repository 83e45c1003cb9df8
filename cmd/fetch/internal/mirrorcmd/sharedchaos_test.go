//go:build linux

package mirrorcmd_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
)

// disturbances are the events of a chaos test: workers that are killed, restarts
// of the database and of the store, and restarts of the store in the middle of a
// part of a multipart upload.
type disturbances struct{ kills, databases, stores, parts int }

// chaos runs a crawl of three workers that upload to versitygw. The events occur
// after equal numbers of requests.
func chaos(t *testing.T, c *sharedCrawl, d disturbances) {
	store := c.useS3(t)
	outages := &outages{store: store, parts: d.parts}
	c.store = strings.Replace(c.store, store.Addr, outages.relay(t), 1)
	total := c.hosts * c.pages
	var all []func()
	for range d.kills {
		all = append(all, c.workers[rand.IntN(len(c.workers))].kill)
	}
	for range d.databases {
		all = append(all, c.db.Restart)
	}
	for range d.stores {
		all = append(all, outages.restart)
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	events := make(chan func(), len(all))
	c.onRequest(func(served int) {
		every := total / (len(all) + 1)
		if n := served / every; served%every == 0 && n <= len(all) {
			events <- all[n-1]
		}
	})
	done := c.run(events, func(w *sharedWorker, out string, err error) {
		if err != nil {
			t.Errorf("worker %s: %v: %s", w.name, err, out)
		}
	})
	t.Logf("%d of %d events, %d requests for %d pages", done, len(all), c.record().served, total)
	if outages.parts > 0 {
		t.Errorf("%d of %d parts were not interrupted", outages.parts, d.parts)
	}
	c.checkPoliteness(t)
	c.check(t)
	c.checkWarcio(t)
	c.checkLogs(t)
}

// outages are restarts of a store.
type outages struct {
	store *peer.Server

	mu    sync.Mutex
	parts int // restarts in the middle of a part that are left
}

func (o *outages) restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.store.Restart()
}

// relay starts a relay to the store and returns its address. The relay restarts
// the store in the middle of parts of multipart uploads.
func (o *outages) relay(t *testing.T) string {
	return faultnet.Relay(t, o.store.Addr, func(r *http.Request) {
		if r.URL.Query().Has("partNumber") {
			faultnet.AtHalf(r, o.interrupt)
		}
	}, nil)
}

// interrupt restarts the store, if restarts in the middle of a part are left.
func (o *outages) interrupt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.parts > 0 {
		o.parts--
		o.store.Restart()
	}
}

// TestSharedCrawl kills workers of a crawl and restarts the database and the
// store.
func TestSharedCrawl(t *testing.T) {
	chaos(t, newSharedCrawl(t, 40, 40), disturbances{kills: 3, databases: 1, stores: 2})
}
