package mirrorcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/crawlflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/anyurl/fetch/uri"
)

// sharedFlags are the flags of a crawl that several workers share.
type sharedFlags struct {
	frontier string
	worker   string
	again    bool

	store     string
	keepLocal bool
	maxSpool  options.Bytes
}

func (f *sharedFlags) Register(s *options.Set) {
	p := s.Own("Shared crawls")
	crawlflags.RegisterFrontier(s, &f.frontier)
	p.StringVar(&f.worker, "worker", "", "run as the worker `NAME` (default from worker.json, or the host name)")
	p.BoolVar(&f.again, "again", false, "start the next run of a crawl that is complete")
	crawlflags.RegisterStore(s, &f.store, "upload finished WARC files to the store at `URL` (s3://BUCKET or file:///DIR)")
	p.BoolVar(&f.keepLocal, "keep-local", false, "with --store, keep uploaded WARC files in warc/ too")
	p.Var(&f.maxSpool, "max-spool", "pause visits if more than `BYTES` wait for their upload (default 10G)")
}

// apply sets the options of a shared crawl in o.
func (f *sharedFlags) apply(o *mirror.Options) {
	if f.frontier != "" {
		o.Frontier = postgres.New(f.frontier)
	}
	o.Worker, o.Again = f.worker, f.again
	o.Store, o.KeepLocal, o.MaxSpool = clientflags.StoreAt(f.store), f.keepLocal, int64(f.maxSpool)
}

// sharedGrace is the time after a signal in which a worker can end the run while
// its database does not respond.
const sharedGrace = 2 * time.Second

// ownFlags lists the flags that each worker of a shared crawl sets for itself.
// They are not read from the stored settings of the crawl.
var ownFlags = []string{
	"hosts", "min-free", "warc", "warc-prefix", "warc-size", "warc-time", "record-unchanged", "warc-wire", "operator", "description",
	"is-part-of", "no-tree", "max-delete",
}

// joinCrawl sets the flags to the stored settings of the shared crawl, if any. It
// returns the seeds of the crawl, or nil if the crawl has no run. It is an error
// if the command line sets a flag to another value.
func (c *mirrorCommand) joinCrawl(ctx context.Context) ([]uri.URI, error) {
	f := &c.mirror
	if f.shared.frontier == "" && os.Getenv("FETCH_FRONTIER") != "" {
		f.shared.frontier = os.Getenv("FETCH_FRONTIER")
		c.Note("FETCH_FRONTIER is set, so this run is a worker of the crawl%s", crawlName(f.shared.frontier))
	}
	if f.shared.frontier == "" {
		switch {
		case f.shared.again || f.shared.worker != "":
			return nil, fetch.Usage.Errorf("--worker and --again require --frontier")
		case f.shared.store != "":
			return nil, fetch.Usage.Errorf("--store requires --frontier, which records the uploaded files")
		}
		return nil, nil
	}
	f.archive.warc, f.archive.noTree = true, true
	o, err := mirror.Open(mirror.Location{Frontier: postgres.New(f.shared.frontier)}).Options(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, stored := range storedFlags(&o) {
		if slices.Contains(ownFlags, stored.name) {
			continue
		}
		given := c.isSet(stored.name)
		if stored.name == "store" && !given {
			return nil, crawlflags.AdviseStore(fmt.Errorf("%w %q", mirror.ErrUnnamedStore, o.Store))
		}
		before := c.flagText(stored.name)
		set, err := c.applyStored(stored)
		if err != nil {
			return nil, fetch.Local.Errorf("the settings of the crawl: --%s: %w", stored.name, err)
		}
		if set {
			changed = append(changed, stored.String())
		}
		if want := strings.Join(stored.values, ","); given && before != want {
			return nil, conflictingFlag(stored.name, want)
		}
	}
	if len(changed) > 0 {
		c.Note("the database of the crawl sets %s", flagList(changed))
	}
	return o.Seeds, nil
}

// crawlName returns the server, the database and the schema of a shared frontier
// as text after " ", without a login. It returns "" if dsn is no URL.
func crawlName(dsn string) string {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" {
		return ""
	}
	name := " in " + u.Host + u.Path
	if schema := u.Query().Get("search_path"); schema != "" {
		name += ", schema " + schema
	}
	return name
}

// conflictingFlag returns the error for a flag whose value differs from want,
// its value in the settings of the crawl.
func conflictingFlag(name, want string) error {
	switch name {
	case "max-files", "max-bytes", "run-time":
		return fetch.Usage.Errorf("the crawl has --%s=%s; to change it, use fetch frontier limit", name, want)
	}
	return fetch.Usage.Errorf("the crawl was started with --%s=%s", name, want)
}

// flagText returns the current value of a flag in the text format of
// storedFlags.
func (c *mirrorCommand) flagText(name string) string {
	for _, section := range c.flags.Sections {
		if f := section.Flags.Lookup(name); f != nil {
			if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
				return strings.Join(list.GetSlice(), ",")
			}
			return f.Value.String()
		}
	}
	return ""
}
