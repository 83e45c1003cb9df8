// Package frontier stores the URLs and the captures of a crawl in a database.
// The database survives a crash at any point.
//
// Package sqlite and package postgres implement a [Frontier]. Package rules
// contains the rules that both packages apply.
//
// A crawl calls Begin at the start of a run. Its workers then call Claim,
// ClaimMore, Complete and Release until no URL is pending.
//
// Claim leases hosts, not URLs. A [Lease] gives one worker the exclusive right to
// send requests to a host. The worker can thus enforce the delay and the number
// of connections. An expired lease can be claimed by another worker. A call with
// the old lease then returns [ErrFenced]. Leased items remain pending in the
// database, so that no repair is necessary after a crash.
//
// A run visits each URL at most once. The next run starts from the seeds. It
// visits a URL of an earlier run after a call of Add for this URL. At the end
// of a run, Revive adds the remaining URLs that earlier runs have retrieved.
package frontier

import (
	"context"
	"crypto/sha256"
	"iter"
	"time"
)

// A Key identifies a URL in the database. It consists of the first 16 bytes of
// the SHA-256 digest of the canonical URL.
type Key [16]byte

// KeyOf returns the Key of a URL, which must be in canonical form.
func KeyOf(url string) Key {
	var buffer [256]byte // keeps most URLs off the heap
	sum := sha256.Sum256(append(buffer[:0], url...))
	return Key(sum[:16])
}

// IsZero reports whether k is the zero Key, which belongs to no URL.
func (k Key) IsZero() bool { return k == Key{} }

// Column returns the value of k in a database: nil, which is stored as null, for
// the zero Key.
func (k Key) Column() []byte {
	if k.IsZero() {
		return nil
	}
	return k[:]
}

// An Item is a URL in the database, with the data that a visit needs.
type Item struct {
	Key       Key
	URL       string
	Host      string    // host whose lease is required for a visit
	Via       Key       // first page or listing that contains a link to the URL; zero for a seed
	Depth     int       // number of links from a seed
	Priority  int       // items with lower values are claimed first; items with equal values in the order of Add
	NotBefore time.Time // earliest time of the visit; zero means now
	Meta      []byte    // data that the caller passed to the most recent Add

	// The Frontier sets the following fields and ignores them in parameters.
	Run         int64    // most recent run that added or completed the URL
	Attempts    int      // number of failed attempts in this run
	Note        string   // note of the most recent Result
	LastCapture *Capture // most recent capture, or nil
}

// A Capture describes a retrieved object and the files that contain the object.
type Capture struct {
	Key   Key
	URL   string // URL in the WARC record: Item.URL, or the permanent URL of the object (news:MESSAGE-ID)
	Run   int64
	Time  time.Time
	Kind  string // name of a fetch.Kind
	Media string
	Code  int
	Size  int64 // size of the payload in bytes

	Digest    [32]byte  // SHA-256 digest of the payload
	Validator string    // validator for a conditional request, or ""
	Modified  time.Time // modification time according to the server; zero if unknown

	Path   string // path of the file in the tree, or ""
	File   string // name of the WARC file that contains the record, or ""
	Offset int64  // offset of the gzip member in File, in bytes
	Length int64  // length of the gzip member, in bytes
	ID     string // WARC-Record-ID
	Proof  string // WARC-Payload-Digest

	// Checksum is the CRC-32 of the gzip member, or zero if it is unknown. It is
	// always zero for a revisit record, because such a record is intact only
	// together with another record.
	Checksum uint32
}

// TextSize returns the total size of the texts of c in bytes. In the archive of a
// stranger, they can have a million bytes each.
func (c *Capture) TextSize() int {
	return len(c.URL) + len(c.Media) + len(c.Validator) + len(c.Path) + len(c.File) + len(c.ID) + len(c.Proof)
}

// A File describes a file in the tree and the state of its URL.
type File struct {
	Path   string
	Digest [32]byte
	State  State // state of the URL to which the file belongs
}

// A Name reserves a path in the tree for one URL.
type Name struct {
	Fold string // path after case folding and Unicode normalization
	Key  Key    // key of the URL that owns the file; zero for a directory
}

// A Result contains the results of a visit to one Item.
type Result struct {
	Item     Item
	State    State
	Retry    time.Time // time of the next attempt, if State is Pending
	Postpone bool      // if true and State is Pending, the item is not claimed before the next Begin
	Defer    bool      // if true, Item.Priority increases by one, so that other items are claimed first
	Note     string    // reason for a failure or an exclusion
	Meta     []byte    // new value of Item.Meta, or nil to keep it
	Capture  *Capture  // new capture, or nil if no new object was retrieved
	Foreign  bool      // if true, the item can belong to another host, because a page of the leased host needs its object
	Names    []Name    // paths to reserve for Capture.Path
	Children []Item    // links in the object; Complete adds them like Add

	Counts  Counts // added to the counters of the run
	Objects int64  // added to Lease.Objects of the host
	Error   string // class of the error, counted in Stats.Errors; "" means no error

	Line []byte // line of the log of visits, which Unlogged returns until a call of Logged; or nil
}

// Counts contains the counters that the limits of a run apply to. The caller
// defines the meaning of the counters.
type Counts struct{ Files, Bytes int64 }

// A Lease is the exclusive right of one worker to visit a host. It is not safe
// for concurrent use. An expired Lease remains valid until another worker
// claims the host, so that completed work is not lost.
type Lease struct {
	Host    string
	Epoch   int64
	Until   time.Time
	Items   []Item      // items returned by Claim
	Control HostControl // settings of the host at the time of Claim
	Objects int64       // sum of Result.Objects of all runs at the time of Claim

	// Outstanding contains the row numbers of the items that are claimed but
	// not completed. Only the Frontier modifies it.
	Outstanding map[Key]int64
}

// A HostControl contains the settings that Control can change for one host. The
// zero value means that the host has no special settings.
type HostControl struct {
	Host     string
	Paused   bool // if true, Claim and ClaimMore return no items of the host
	Excluded bool // if true, the caller must exclude the items that it claims

	// Delay is the minimum time between two requests, as set by the operator of
	// the crawl. 0 means the default delay, and a negative value means no
	// delay.
	Delay time.Duration

	// CrawlDelay is the minimum time between two requests, as the host's
	// robots.txt demands. If a lease ends without a call of Release, the host
	// is not claimed before this time has passed.
	CrawlDelay time.Duration
}

// NoteExcludedHost is the note of the items that Control excludes.
const NoteExcludedHost = "the host was excluded from the crawl"

// Stats contains statistics about the newest run and the URLs, hosts and
// captures in a Frontier.
type Stats struct {
	Run       int64     // number of the most recent run
	Note      []byte    // note that was passed to Begin at the start of the run
	Time      time.Time // current time of the database
	Started   time.Time
	Ended     time.Time        // end of the run; zero while the run is active
	States    map[State]int64  // URLs by state: all pending URLs, and other URLs that this run has visited
	Errors    map[string]int64 // number of failed results of this run by class of error; nil if no result failed
	URLs      int64            // number of URLs of all runs
	Postponed int64            // number of pending URLs that are not claimed before the next Begin
	Dropped   int64            // number of URLs dropped because of SetPendingLimit since Open
	Hosts     int64            // number of hosts with pending URLs
	Waiting   int64            // number of these hosts that have no lease and must not be visited yet
	Paused    int64            // number of these hosts that are paused
	Open      int64            // number of these hosts that are leased or become due without Begin or Control
	Captures  int64
	Bytes     int64     // total size of the payloads of all captures
	NextDue   time.Time // earliest time at which a waiting host may be visited; zero if no host waits
	NextHost  string    // host that may be visited at NextDue
}

// A Frontier is a database of URLs, leases and captures. It is safe for
// concurrent use. When a call returns nil, its changes are on disk, except for
// changes to leases. If ctx is canceled, a call stops waiting for the database,
// but completes a change that has started. If the database does not respond, such
// a call returns within a second, and the change may be lost. Between End and
// Begin, the methods Add, Revive, Claim and Complete return an error. Times have
// a precision of one microsecond.
type Frontier interface {
	// Begin continues the active run. If there is no active run, Begin starts
	// the next run with the given note, and the result fresh is true. Postponed
	// items become ready.
	Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error)

	// End ends the active run. Pending items remain for the next run.
	End(ctx context.Context) error

	// Add adds items to the active run and returns the number of items that
	// became pending. It ignores items that this run already contains and items
	// with the state Kept. An item of an earlier run becomes pending with the
	// new Depth, Priority and Meta, but keeps its Via. If its state was
	// Pending or Dead, it keeps a higher Priority, because of Result.Defer.
	Add(ctx context.Context, items []Item) (added int, err error)

	// SetPendingLimit limits the number of pending URLs of each host to n. Add
	// and Complete drop new URLs above this limit. They do not drop seeds and
	// URLs of earlier runs. Zero, the default, means no limit.
	SetPendingLimit(n int64)

	// Revive makes URLs of earlier runs pending if they were retrieved and this
	// run has not added them. These URLs have the state Done, or the state
	// Excluded and a capture. Revive returns their number.
	Revive(ctx context.Context) (n int64, err error)

	// Claim leases hosts that have items to visit now. The parameter hosts is the
	// maximum number of leases, and perHost is the maximum number of items in
	// each Lease. The parameter ttl is the duration of the leases.
	Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*Lease, error)

	// ClaimMore returns up to n more items of the leased host. It returns no
	// items if no item is due, if the host is blocked, or if the lease has
	// expired.
	ClaimMore(ctx context.Context, l *Lease, n int) ([]Item, error)

	// Complete records the results of items of the leased host in one
	// transaction. If Complete returns an error, it has recorded no result. The
	// items can also be new or unclaimed, because a listing can describe them.
	// An item of another host is an error, unless Result.Foreign is true. A name that belongs to another URL
	// is also an error.
	//
	// The map ends contains the offset after the last complete record of each
	// WARC file. The keys are file names, and the map may be nil. A stored
	// offset never decreases.
	Complete(ctx context.Context, l *Lease, rs []Result, ends map[string]int64) error

	// Unlogged returns the values of Result.Line since the most recent call of
	// Logged, in the order of Complete. In a shared crawl, it returns only those
	// of this worker.
	Unlogged(ctx context.Context) iter.Seq2[[]byte, error]

	// Logged removes the lines that Unlogged returns. The caller has written
	// them to the log and synced the log. It must not call Complete meanwhile.
	Logged(ctx context.Context) error

	// Extend prolongs or shortens the lease, so that it ends after the duration
	// ttl from now.
	Extend(ctx context.Context, l *Lease, ttl time.Duration) error

	// Release ends the lease. The host can be claimed again at the time next,
	// or at the end of BlockHost if that time is later. The zero Time means
	// now.
	Release(ctx context.Context, l *Lease, next time.Time) error

	// BlockHost prevents claims of host until the given time, for example
	// because of a Retry-After header field. It has no effect if the host is
	// already blocked until a later time.
	BlockHost(ctx context.Context, host string, until time.Time) error

	// LimitWaits shortens the waiting times of hosts and items that end later
	// than the duration longest from now, and leases that do so. The delay of a
	// host is added to longest. Longer times are wrong, because the clock was set
	// back after they were stored. Paused hosts and postponed items still wait.
	LimitWaits(ctx context.Context, longest time.Duration) error

	// Control changes the settings of a host in one transaction. If change sets
	// Excluded, the pending items of the host get the state Excluded, and
	// Control returns their number. If the host is unknown, Control returns an
	// error that wraps ErrUnknownHost. Leases of the host remain valid, so the
	// worker of a lease must compare its settings with the settings that Controls
	// returns.
	Control(ctx context.Context, host string, change func(*HostControl)) (excluded int64, err error)

	// Controls returns the settings of the given hosts, or of all hosts if the
	// list is nil. The result contains no host whose settings are zero.
	Controls(ctx context.Context, hosts []string) (map[string]HostControl, error)

	// Evict ends all leases. It must not be called while another worker runs.
	Evict(ctx context.Context) error

	// Items returns the URLs of all runs with the given state, in the order in
	// which they were added.
	Items(ctx context.Context, s State) iter.Seq2[Item, error]

	// Captures returns all captures in the order in which they were recorded.
	Captures(ctx context.Context) iter.Seq2[Capture, error]

	// Files returns the files of the most recent captures, in the order in
	// which their URLs were added.
	Files(ctx context.Context) iter.Seq2[File, error]

	// Layout returns the version of the rules that determine the paths in the
	// tree. The version does not change after the database is created.
	Layout(ctx context.Context) (int, error)

	// NewestCaptures returns the most recent capture for each key in keys. The
	// result contains no entry for a URL without a capture.
	NewestCaptures(ctx context.Context, keys []Key) (map[Key]Capture, error)

	// Metas returns Item.Meta for each key in keys. The result contains no entry
	// for a key that does not belong to a URL of the database.
	Metas(ctx context.Context, keys []Key) (map[Key][]byte, error)

	// CapturesByDigest returns the first capture that has a WARC record, for
	// each digest in digests. The result contains no entry for a digest without
	// such a capture.
	CapturesByDigest(ctx context.Context, digests [][32]byte) (map[[32]byte]Capture, error)

	// NameOwners returns the keys of the URLs that own the names in folds. The
	// key of a directory is zero. The result contains no entry for a free name.
	NameOwners(ctx context.Context, folds []string) (map[string]Key, error)

	// FileEnds returns the offset after the last complete record of each WARC
	// file, as passed to Complete.
	FileEnds(ctx context.Context) (map[string]int64, error)

	// Requeue makes all items with the given states pending and returns their
	// number. It can also be called between runs. If states contains Excluded,
	// no host remains excluded.
	Requeue(ctx context.Context, states ...State) (n int64, err error)

	// RequeueItems makes the items with the given keys pending and returns
	// their number. It ignores unknown, pending and deleted items. It can also
	// be called between runs.
	RequeueItems(ctx context.Context, keys []Key) (n int64, err error)

	// RecordsIn returns the captures whose record is in the WARC file named
	// file.
	RecordsIn(ctx context.Context, file string) iter.Seq2[Stored, error]

	// RecordsOf returns the captures that have the given digest and a WARC
	// record.
	RecordsOf(ctx context.Context, digest [32]byte) iter.Seq2[Stored, error]

	// RecordCount returns the number of captures that have a WARC record.
	RecordCount(ctx context.Context) (int64, error)

	// Relocate changes the file and offset of records in one transaction. The
	// parameter to names the WARC file that contains the moved records, and end
	// is the offset after its last record. A lost capture keeps its ID, but its
	// File becomes "". The WARC file with the name from becomes retired. Both
	// names may be "".
	Relocate(ctx context.Context, from, to string, end int64, moves []Move) error

	// Retired returns the names of retired WARC files, which contain no record
	// of a capture. FileEnds does not return them.
	Retired(ctx context.Context) ([]string, error)

	// DropFile removes a retired WARC file from the database.
	DropFile(ctx context.Context, name string) error

	// Seal stores a digest of all rows and the digest that the function manifest
	// returns. Any later change of the database removes the digest of the rows.
	// Seal may call manifest in another goroutine. The function may read the
	// database, but must not change it.
	Seal(ctx context.Context, manifest func() ([]byte, error)) error

	// Unseal removes the digest of the rows.
	Unseal(ctx context.Context) error

	// ReadSeal returns the digests stored by the most recent call of Seal.
	ReadSeal(ctx context.Context) (Seal, error)

	// Check verifies the structure of the database. If there is a digest of the
	// rows, Check also verifies this digest. The error wraps ErrDamaged if the
	// database is damaged.
	Check(ctx context.Context) error

	// Counts returns the sums of Result.Counts in the run, for the worker that
	// uses this Frontier and for all other workers.
	Counts(ctx context.Context) (own, others Counts, err error)

	// Stats returns the statistics of the database and of the most recent run.
	Stats(ctx context.Context) (Stats, error)

	// Close waits for running calls and closes the database. All later calls
	// return an error.
	Close() error
}
