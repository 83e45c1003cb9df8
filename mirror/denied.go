package mirror

import (
	"context"
	"errors"
	"sync"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// ErrDenied means that the Policy of this worker denies all hosts that have
// pending URLs. The URLs remain pending for workers whose Options.Seeds contain
// URLs of the same servers. Its Fault is fetch.BadAddress.
var ErrDenied = fetch.BadAddress.Errorf("the policy denies all hosts that have pending URLs; they remain pending for other workers")

var errManyDenied = fetch.BadAddress.Errorf("the policy denies more than %d hosts of this crawl; "+
	"start the worker with the URLs of its private servers", frontier.MaxSkipped)

// recordedSeeds contains the seeds of a crawl that its database records. Other
// workers may have got them from the user. It is safe for concurrent use.
type recordedSeeds struct {
	mu      sync.Mutex
	seeds   serverSeeds
	version string // version of the note that contains the seeds

	known map[string]bool // all seeds
	size  int             // bytes of these seeds
}

// trustedBy returns a URL in whose presence among the seeds a worker would trust
// the server of v. It returns "" if no worker of the crawl can be expected to
// have such a seed, because a public page of another server led to v.
func (s *recordedSeeds) trustedBy(v *visit) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	seed := s.seeds.find(v)
	from, err := uri.Parse(v.meta.From)
	origin, sited := originOf(from)
	switch {
	case seed != "":
		return seed
	case v.meta.From == "", // a seed of another worker
		err == nil && sited && v.hasOrigin() && withoutScheme(origin) == withoutScheme(v.origin),
		v.meta.Peer.IsValid() && !fetch.IsPublic(v.meta.Peer):
		return v.item.URL
	}
	return ""
}

// mustYield reports whether the item of v remains pending for another worker. The
// parameter err is the error of v. The Policy has denied the URL of v only because
// this process trusts neither the URL nor the page that led to it.
func (c *crawl) mustYield(v *visit, err error) bool {
	_, refused := errors.AsType[*fetch.Refusal](err)
	return c.shared != nil && refused && v.resp == nil && !c.trust.isKnown(v) && c.recorded.trustedBy(v) != ""
}

// yieldsHosts reports whether this process has yielded hosts.
func (c *crawl) yieldsHosts() (some bool) {
	c.yielded.Range(func(any, any) bool {
		some = true
		return false
	})
	return some
}

// maxYielded is the number of items that a process yields under one lease before
// it returns the other items of the host unvisited.
const maxYielded = 1000

// yieldedItems describes the items of a host that are left to other workers.
type yieldedItems struct {
	count    int
	requests map[deniedRequest]bool // requests of these items
	seed     string                 // URL that the command lacks to visit the first of these items
}

// A deniedRequest contains the properties of a request that the Policy uses for
// its decision. The Policy denies all requests with the same values.
type deniedRequest struct {
	origin fetch.Origin
	from   string // page that counts as the source, or ""
}

func (c *crawl) deniedRequestOf(v *visit) deniedRequest {
	r := deniedRequest{origin: v.origin}
	if from := c.trust.source(v); from != nil {
		r.from = from.URL.String()
	}
	return r
}

// yieldsLike reports whether the item of v must be yielded like an earlier item
// under the lease of its host. Neither a pause nor a lookup is then needed.
func (c *crawl) yieldsLike(v *visit) bool {
	h := c.hostWorker(v.item.Host)
	if h == nil || c.trust.isKnown(v) || !v.hasOrigin() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.yielded.count > 0 && h.yielded.requests[c.deniedRequestOf(v)]
}

// yieldItem leaves the item of v to another worker. The item remains outstanding
// under this lease, so that it is not claimed again. The other items of the host
// are visited. The caller holds h.mu.
func (h *hostWorker) yieldItem(v *visit) {
	y := &h.yielded
	if y.count == 0 {
		y.requests, y.seed = map[deniedRequest]bool{}, h.c.recorded.trustedBy(v)
	}
	y.requests[h.c.deniedRequestOf(v)] = true
	if y.count++; y.count >= maxYielded {
		h.pause()
	}
}

// yieldHost makes this process claim the host of h no more, if it has yielded
// items of the host. Otherwise the next claim would return the same items.
func (h *hostWorker) yieldHost() error {
	if h.yielded.count == 0 {
		return nil
	}
	if !h.c.shared.Skip(h.lease.Host) {
		return errManyDenied
	}
	if _, known := h.c.yielded.LoadOrStore(h.lease.Host, true); !known {
		h.c.o.Logger.Warn("the policy denies a host; its URLs remain pending for workers whose command contains this URL",
			"url", h.yielded.seed)
	}
	return nil
}

// reclaimYielded makes this process claim the yielded hosts again, because other
// URLs of these hosts may have become pending. It returns false if this process
// has committed no visit since the last call, so that it would yield all their
// URLs again. Only one goroutine calls it.
func (c *crawl) reclaimYielded() bool {
	n := c.committed.Load()
	if n == c.reclaimed {
		return false
	}
	c.reclaimed = n
	c.shared.SkipNone()
	return true
}

// recordSeeds adds the seeds of this command to the seeds in the database of a
// shared crawl. The other workers then include them in the scope.
func (c *crawl) recordSeeds(ctx context.Context, seeds []string) error {
	if c.shared == nil || c.o.StoredSeeds {
		return nil
	}
	return c.shared.ChangeNote(ctx, func(text []byte) ([]byte, error) {
		note, err := parseNote(text)
		if err != nil || len(note.Seeds) == 0 {
			return text, err // the seeds were too long to be stored
		}
		known := map[string]bool{}
		for _, seed := range note.Seeds {
			known[seed] = true
		}
		for _, seed := range seeds {
			if !known[seed] {
				known[seed] = true
				note.Seeds = append(note.Seeds, seed)
			}
		}
		return note.encode()
	})
}

// reloadSeeds adds the seeds that workers have recorded since the last call to
// the scope, and reports whether the record has changed.
func (c *crawl) reloadSeeds(ctx context.Context) (changed bool, err error) {
	c.recorded.mu.Lock()
	version := c.recorded.version
	c.recorded.mu.Unlock()
	text, version, changed, err := c.shared.ChangedNote(ctx, version)
	if err != nil || !changed {
		return false, err
	}
	note, err := parseNote(text)
	if err != nil {
		return false, nil
	}
	c.addSharedSeeds(note.Seeds)
	c.recorded.mu.Lock()
	c.recorded.version = version
	c.recorded.mu.Unlock()
	return true, nil
}

// addSharedSeeds adds recorded seeds of a shared crawl to the scope. The database
// can name other seeds at each call, so their total size has the limit of a note.
func (c *crawl) addSharedSeeds(seeds []string) {
	c.recorded.mu.Lock()
	defer c.recorded.mu.Unlock()
	if c.recorded.known == nil {
		c.recorded.known = map[string]bool{}
	}
	for _, text := range seeds {
		if c.recorded.known[text] || c.recorded.size+len(text) > maxNote {
			continue
		}
		if u, err := uri.Parse(text); err == nil {
			c.recorded.known[text] = true
			c.recorded.size += len(text)
			c.recorded.seeds.add(u, c.schemeOf(u))
			c.scope.addSeed(u)
		}
	}
}
