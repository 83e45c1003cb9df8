package mirror

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

// Options configures a run. Seeds, Client, and either Dir or Sink are required.
// The other fields have useful defaults. The first groups of fields select what to
// visit, where to store it, how to treat the servers, and what to do with changes
// since the last run. The last groups are for observing the run, and for crawls with
// several workers.
type Options struct {
	Dir    string        // directory of the archive, which is created if necessary
	Seeds  []uri.URI     // URLs entered by the user, see fetch.ParseURL; the archive does not store their passwords
	Client *fetch.Client // client for all requests, including its Policy, credentials and retries
	Scope  Scope         // the links to follow; by default, links to URLs below a seed
	Limits Limits        // number of objects, bytes, time and other limits

	// If Tree is true, Run writes the retrieved objects as files in tree/. Tree
	// is implied if WARC and Sink are nil. It is required if the archive already
	// has a tree.
	Tree bool
	WARC *WARC     // settings for WARC files; nil means no WARC files
	Mail Mailboxes // format of mail/

	// Sink receives the objects in place of the archive. Dir then contains only
	// the URLs and their states, so that an interrupted run can be continued. If
	// Dir is "", they are in a temporary directory, which Run removes. A later run
	// requests all objects again, without conditions. Sink excludes WARC, Tree,
	// Mail, Delete and Frontier.
	Sink Sink

	// Event is called for each visit, one call at a time. Progress is called at
	// most once a second. Both may be nil.
	Event    func(Event)
	Progress func(Progress)

	// Run obeys the robots.txt of each site and pauses between the requests to
	// a host. Each attempt of a request waits, including the retries of a
	// middleware of the Client. The Client needs no [wrap.Polite] for this. If
	// the Client has one, both apply: the longer pause counts.
	Agent        string // product token for robots.txt; "" means "fetch"
	IgnoreRobots bool   // if true, ignore robots.txt, and NoFollow is FollowAll

	// NoFollow selects the nofollow directives that Run obeys. The Summary
	// contains the number of links that were not followed.
	NoFollow NoFollow

	// Delay is the minimum time between the starts of two requests to a host. 0
	// means one second for public hosts, and no delay for localhost and for
	// loopback, private and link-local addresses. A negative value means no
	// delay. A longer Crawl-delay in robots.txt takes precedence.
	Delay   time.Duration
	Hosts   int // number of hosts visited at the same time; 0 means 16
	PerHost int // connections to each host; 0 means 4 for a private host, otherwise 1

	// Tries is the number of attempts for a URL that fails temporarily. If a
	// server does not respond during Tries pauses in a row, it gets no more
	// requests in the run. 0 means 3.
	Tries int

	// Browser opens the pages of the run, or is nil. A page is opened in it after it
	// was retrieved. The objects that the page requests are archived with the
	// page, also from other hosts. The links come from the page after its scripts
	// have changed it. robots.txt, Delay and Scope apply to pages. Scope.Exclude
	// and the Policy of the Client apply to all requests. Browser excludes
	// Frontier. The caller closes it.
	Browser Browser

	// If Speculate is true, Run also follows strings in scripts and JSON
	// documents that look like URLs or paths. If such a URL does not exist, it
	// is excluded and does not count as failed.
	Speculate   bool
	FollowLinks bool // if true, follow symbolic links in listings

	// If Delete is true, Run moves the files of objects that were deleted on
	// the server to attic/. If the share of these files is larger than
	// MaxDelete, Run moves no files. A MaxDelete of 0 means 0.1.
	Delete    bool
	MaxDelete float64

	// MaxLost is the maximum share of missing WARC records. If more are
	// missing, Run changes nothing and returns ErrLost, because a disk may not
	// be mounted. Otherwise, Run retrieves the objects of the missing records
	// again. 0 means 0.1.
	MaxLost float64
	Recheck bool  // if true, request objects that a listing shows as unchanged, and verify archived objects
	Marks   Marks // positions in newsgroups; nil means listing all articles

	// If StoredSeeds is true, the seeds come from Crawl.Options and not from the
	// user. The Policy then treats the seeds like links from a public page, and
	// credentials in the seeds are ignored.
	StoredSeeds bool

	// Run stores the seeds and settings in options.json for Crawl.Options,
	// unless DiscardOptions or StoredSeeds is true.
	DiscardOptions bool

	// If Stop is closed, Run starts no more visits. It completes those in
	// progress, and returns ErrStopped. The next run continues the crawl.
	Stop <-chan struct{}

	Monitor *Monitor         // observes the run; may be nil
	Logger  *slog.Logger     // receives the log records of the run; nil means no log
	Now     func() time.Time // current time; nil means time.Now

	// Override returns the text of Event.Override, for example the name of a
	// flag. If Override is nil, the text is the name and the value of the
	// setting.
	Override func(override.Setting) string

	// Frontier is the database of a crawl that any number of workers on several
	// machines run. Each worker has its own Dir and its own name Worker. The first
	// worker creates the tables. nil means a database in Dir. Frontier requires
	// WARC and excludes Tree, Mail and Delete.
	Frontier Frontier
	Worker   string // name of this worker; "" means the worker of Dir, or the host name if Dir is new

	// Store is the store for finished WARC files, or nil. All workers of a crawl
	// use the same store. Run uploads each file, records it in the frontier and
	// then removes the local file, unless KeepLocal is true. Store requires
	// Frontier.
	Store     Store
	KeepLocal bool

	// MaxSpool limits the bytes of WARC files that wait for their upload. At
	// this limit, or while the disk is full, a worker with a Store claims no
	// hosts. 0 means 10 GB.
	MaxSpool int64

	// If Again is true, Run starts the next run of a crawl with a shared frontier
	// whose last run is complete. Otherwise Run returns ErrComplete.
	Again bool
}

// WARC contains the settings for WARC files.
type WARC struct {
	Prefix string // prefix of the file names; "" means "fetch"
	Size   int64  // size in bytes after which a new file is started; 0 means 1 GB

	// Age is the time after which a new file is started. 0 means no limit. Without
	// Options.Store, a file ends at the first commit after this time.
	Age time.Duration

	Info fetch.Header // additional fields of the warcinfo record, such as operator; Run adds seeds and settings

	// If Unchanged is true, Run writes a revisit record for every unchanged
	// object. Otherwise only unchanged HTTP objects have revisit records.
	Unchanged bool

	// Dedup is the index of another archive, or nil. If the index has a capture
	// of a URL with the payload that Run retrieved, Run writes a revisit record
	// instead of the payload. The record refers to this capture. Replay then
	// requires both archives. The caller closes Dedup after Run.
	Dedup *warc.IndexFile

	// If KeepTransferCoding is true, the records of HTTP responses contain the
	// body in the received form, for example with its chunks. Otherwise they
	// contain the body without its transfer coding, because the programs that
	// verify payload digests agree only on this form.
	KeepTransferCoding bool
}

// NoFollow selects the nofollow directives that a run obeys.
type NoFollow uint8

const (
	ObeyPages NoFollow = iota // directives for all links of a page, in a meta element or the field X-Robots-Tag
	ObeyLinks                 // directives of pages, and of single links (rel=nofollow)
	FollowAll                 // no directives
)

// noFollows contains the name of each NoFollow.
var noFollows = [...]string{"pages", "links", "none"}

// String returns the name of the NoFollow, such as "pages".
func (n NoFollow) String() string { return noFollows[min(int(n), len(noFollows)-1)] }

// ParseNoFollow returns the NoFollow with the given name: pages, links or none.
func ParseNoFollow(name string) (NoFollow, bool) {
	i := slices.Index(noFollows[:], name)
	return NoFollow(max(i, 0)), i >= 0
}

// Mailboxes is the format of the mailboxes in mail/. These contain the news
// articles and mail messages, in addition to tree/ and warc/.
type Mailboxes uint8

const (
	NoMailboxes Mailboxes = iota // no files in mail/
	Mbox                         // one file in mboxrd format per group
	Maildir                      // one Maildir per group
)

// mailNames contains the name of each format of mailboxes.
var mailNames = [...]string{"", "mbox", "maildir"}

// String returns "mbox", "maildir" or "".
func (m Mailboxes) String() string { return mailNames[min(int(m), len(mailNames)-1)] }

// Marks stores the position up to which the articles of a newsgroup were
// listed. The driver lists the articles after this position and updates it at
// the end of the listing. An implementation usually wraps nntp.Marks.
type Marks interface {
	Mark(group uri.URI) string
	SetMark(group uri.URI, mark string)
}

// validate returns an error for invalid options before the archive is changed.
func (o *Options) validate() error {
	switch {
	case o.Dir == "" && o.Sink == nil:
		return fetch.Usage.Errorf("no folder for the archive")
	case o.Sink != nil && (o.WARC != nil || o.Tree || o.Delete || o.Mail != NoMailboxes || o.Frontier != nil):
		return fetch.Usage.Errorf("a run with a Sink writes no archive and has no shared frontier")
	case o.Client == nil:
		return fetch.Usage.Errorf("no client for the mirror")
	case len(o.Seeds) == 0:
		return fetch.Usage.Errorf("no seed URLs for the mirror")
	case o.Frontier != nil && (o.WARC == nil || o.Tree || o.Delete || o.Mail != NoMailboxes):
		return fetch.Usage.Errorf("a shared frontier requires WARC records without a tree and mailboxes")
	case o.Browser != nil && o.Frontier != nil:
		return fetch.Usage.Errorf("a crawl with a browser has no shared frontier")
	case o.Store != nil && o.Frontier == nil:
		return fetch.Usage.Errorf("a store for WARC files requires a shared frontier")
	}
	logins := map[fetch.Origin]fetch.Credential{}
	for _, u := range o.Seeds {
		if u.Scheme() == "" {
			return fetch.BadURL.Errorf("seed %q is a relative reference, not a URL", u)
		}
		// A password that cannot be removed from an invalid URL would be stored
		// in the archive.
		if bare := u.WithoutUserinfo(); bare.String() != bare.Unredacted() {
			return fetch.BadURL.Errorf("seed %s: no host", u)
		}
		if o.StoredSeeds {
			continue
		}
		c, err := o.Client.Credential(u)
		if err != nil {
			return fmt.Errorf("seed %s: %w", u, err)
		}
		origin, ok := originOf(u)
		if c == nil || !ok {
			continue
		}
		// File names in an archive do not contain the user name. Objects of two
		// users would overwrite each other.
		if other, ok := logins[origin]; ok && other != *c {
			return fetch.Usage.Errorf("seeds have two logins for %s: use a separate archive for each login", origin.Host)
		}
		logins[origin] = *c
	}
	return nil
}

func (o *Options) setDefaults() {
	if o.WARC == nil && o.Sink == nil {
		o.Tree = true
	}
	if o.Frontier != nil && o.Worker == "" {
		if o.Worker = archive.WorkerOf(o.Dir); o.Worker == "" {
			o.Worker, _ = os.Hostname()
		}
	}
	o.MaxSpool = positiveOr(o.MaxSpool, 10_000_000_000)
	o.Hosts, o.Tries = positiveOr(o.Hosts, 16), positiveOr(o.Tries, 3)
	o.MaxDelete, o.MaxLost = positiveOr(o.MaxDelete, 0.1), positiveOr(o.MaxLost, 0.1)
	o.Agent = cmp.Or(o.Agent, "fetch")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Frontier != nil {
		o.Logger = o.Logger.With("worker", o.Worker)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Override == nil {
		o.Override = override.Setting.String
	}
	if o.Event == nil {
		o.Event = func(Event) {}
	}
	if o.IgnoreRobots {
		o.NoFollow = FollowAll
	}
}

// positiveOr returns n if it is positive, and otherwise the default.
func positiveOr[T int | int64 | float64](n, otherwise T) T {
	if n > 0 {
		return n
	}
	return otherwise
}
