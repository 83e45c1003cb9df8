package mirror

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/trap"
	"github.com/anyurl/fetch/uri"
)

// A crawl is the state of one run of a mirror. All visits share it.
type crawl struct {
	o       Options
	archive *archive.Archive

	browserClient *fetch.Client     // sends the requests of pages in Options.Browser
	queue         frontier.Frontier // URLs to visit
	shared        frontier.Shared   // queue if workers share it, or nil
	started       time.Time

	ending     context.Context // ends some time after the cancellation of the run
	stopEnding func()          // ends it immediately

	sink sync.Mutex // serializes calls of Sink.Put

	runNumber int64
	newRun    bool // if false, an earlier process started the run

	identity  archive.IdentityRules
	scope     *scopeFilter
	trust     *trust
	metas     metaCache
	report    report
	tally     tally
	outages   outages
	robots    *robotsCache
	sameText  trap.Pages
	visited   sync.Map     // hostWorker of each host that this process visits, by name
	private   sync.Map     // set of hosts whose last response came from a private address
	skew      atomic.Int64 // clock of a shared frontier minus the local clock, in nanoseconds
	leases    atomic.Int64 // number of hosts that this process visits at present
	untrusted atomic.Int64 // number of visits that are left for a run whose seeds the user enters
	denied    sync.Map     // error of the Policy for each host with untrusted visits
	lost      atomic.Int64 // number of leases that other workers have taken over
	pause     pause        // why no hosts are claimed at present
	yielded   sync.Map     // set of hosts that this process leaves to other workers
	committed atomic.Int64 // number of visits that were committed
	reclaimed int64        // value of committed at the last call of reclaimYielded
	recorded  recordedSeeds
	wait      atomic.Pointer[Wait] // the current wait, or nil while hosts are visited
	sites     sync.Map             // set of origins whose robots.txt was added to the frontier
}

// schemeOf returns the scheme that the Client uses for u.
func (c *crawl) schemeOf(u uri.URI) fetch.Scheme { return c.o.Client.Scheme(u.Scheme()) }
