package mirror

import (
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/archive"
	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// crawl is one run, with what its visits share.
type crawl struct {
	o         Options
	archive   *archive.Archive
	queue     frontier.Frontier // of the archive
	started   time.Time
	runNumber int64
	newRun    bool // the run was begun by this process

	scope     *scopeFilter
	trust     *trust
	report    report
	tally     tally
	outages   outages
	metaCache metaCache
	sites     sync.Map // origins whose robots.txt was added
}

// schemeOf returns the data of the scheme of u.
func (c *crawl) schemeOf(u uri.URI) fetch.Scheme { return c.o.Client.Scheme(u.Scheme()) }
