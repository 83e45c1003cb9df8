package mirror

import (
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// crawl is the state of one run, shared by its visits.
type crawl struct {
	o         Options
	archive   *archive.Archive
	queue     frontier.Frontier // the frontier of archive
	started   time.Time
	runNumber int64
	newRun    bool // this process started the run

	scope     *scopeFilter
	trust     *trust
	report    report
	tally     tally
	outages   outages
	metaCache metaCache
	robots    *robotsCache
	sites     sync.Map // set of origins: their robots.txt is in the frontier
}

// schemeOf returns the scheme of u.
func (c *crawl) schemeOf(u uri.URI) fetch.Scheme { return c.o.Client.Scheme(u.Scheme()) }
