// Package frontier stores the queue of a crawl and its captures in a database
// that survives a crash at any point.
//
// [Open] opens a frontier. A crawl calls Begin once. Its workers call Claim,
// ClaimMore, Complete and Release until no URL is pending.
//
// Claim leases hosts, not URLs. A [Lease] gives one worker the exclusive right
// to send requests to a host, so that one place enforces the delay and the
// number of connections of the host. Each lease has an epoch, which increases
// when the host is leased again. A worker whose lease has passed to another
// worker gets [ErrFenced]. Leased items stay pending in the database, so that
// a crash needs no repair.
//
// A run visits each URL at most once. The next run starts from the seeds and
// visits a URL of an earlier run when Add is called for it. At the end of a
// run, Revive adds the URLs that were retrieved in an earlier run and that no
// page of this run has added.
package frontier

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"time"
)

// ErrFenced is returned for a lease that another worker has taken over or that
// was released. The call has no effect.
var ErrFenced = errors.New("the lease has passed to another worker")

// ErrDamaged is returned if the database file is corrupt.
var ErrDamaged = errors.New("the database is damaged")

// A Key identifies a URL in every table. It is the first 16 bytes of the
// SHA-256 digest of the URL in canonical form.
type Key [16]byte

// KeyOf returns the key of url, which must be in canonical form.
func KeyOf(url string) Key {
	sum := sha256.Sum256([]byte(url))
	return Key(sum[:16])
}

// IsZero reports whether k is the zero Key, which identifies no URL.
func (k Key) IsZero() bool { return k == Key{} }

// An Item is a URL to visit.
type Item struct {
	Key       Key
	URL       string
	Host      string    // a visit needs the lease of this host
	Via       Key       // the first page or listing that linked to the URL; zero for a seed
	Depth     int       // number of links from a seed
	Priority  int       // lower values are claimed first; equal ones in the order of Add
	NotBefore time.Time // earliest time of the visit; zero means now
	Meta      []byte    // data of the caller from the most recent Add

	// The Frontier sets the fields below and does not read them.
	Run         int64    // most recent run that added or completed the URL
	Attempts    int      // failed attempts in this run
	Note        string   // Result.Note of the most recent Result
	LastCapture *Capture // most recent capture, or nil
}

// State is the state of a URL in the most recent run that visited it.
type State uint8

const (
	Pending  State = iota // not yet visited, or to be visited again at Result.Retry
	Done                  // retrieved, or unchanged since an earlier run
	Kept                  // retrieved and immutable; later runs do not visit it
	Gone                  // retrieved in an earlier run and since deleted on the server
	Dead                  // failed permanently
	Excluded              // excluded by robots.txt or by a rule of the crawl
)

var states = [...]string{"pending", "done", "kept", "gone", "dead", "excluded"}

// String returns the name of s, as it appears in the files of an archive.
func (s State) String() string { return states[min(int(s), len(states)-1)] }

// ParseState parses the result of [State.String]. It reports whether name is
// the name of a State.
func ParseState(name string) (State, bool) {
	i := slices.Index(states[:], name)
	return State(max(i, 0)), i >= 0
}

// MarshalText returns the result of [State.String].
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Capture describes a complete object that was retrieved, and the files that
// contain it.
type Capture struct {
	Key   Key
	URL   string // URL of the record: Item.URL, or the permanent URL of the object (news:MESSAGE-ID)
	Run   int64
	Time  time.Time
	Kind  string // fetch.Kind
	Media string
	Code  int
	Size  int64 // of the payload, in bytes

	Digest    [32]byte  // SHA-256 of the payload
	Validator string    // for a conditional request, or empty
	Modified  time.Time // according to the server; zero if unknown

	Path   string // of the file in the tree; empty if the tree has no file
	File   string // WARC file that contains the record, or empty
	Offset int64  // of the gzip member in File, in bytes
	Length int64  // of the gzip member, in bytes
	ID     string // WARC-Record-ID
	Proof  string // WARC-Payload-Digest
}

// A File is a file of the tree.
type File struct {
	Path   string
	Digest [32]byte
	State  State // of the URL that the file belongs to
}

// A Name reserves a path of the tree for one URL.
type Name struct {
	Fold string // the path, with letter case and Unicode forms folded
	Key  Key    // of the URL that owns the file; zero for a folder
}

// A Result is the outcome of a visit to one Item.
type Result struct {
	Item     Item
	State    State
	Retry    time.Time // time of the next attempt, if State is Pending
	Park     bool      // if State is Pending, the next attempt waits for the next Begin
	Note     string    // reason of a failure or an exclusion
	Capture  *Capture  // nil if no new object was retrieved
	Names    []Name    // paths to reserve for Capture.Path
	Children []Item    // links of the object, which are added as by Add
}

// A Lease is the exclusive right of one worker to visit one host. It must not
// be used by several goroutines at the same time. An expired Lease stays valid
// until another worker claims the host, so that completed work is not lost.
type Lease struct {
	Host  string
	Epoch int64
	Until time.Time
	Items []Item // returned by Claim

	// Outstanding maps the items that were claimed and are not completed to
	// their row numbers. Only the Frontier modifies it.
	Outstanding map[Key]int64
}

// Stats describes the contents of a frontier.
type Stats struct {
	Run      int64  // number of the most recent run
	Note     []byte // argument of the Begin that started the run
	Started  time.Time
	Ended    time.Time       // zero while the run is active
	States   map[State]int64 // number of URLs that this run has visited, and of all pending URLs
	URLs     int64           // number of URLs of all runs
	Parked   int64           // pending URLs that wait for the next Begin
	Dropped  int64           // URLs rejected by SetPendingLimit since Open
	Hosts    int64           // hosts with pending URLs
	Captures int64
	Bytes    int64     // total size of the payloads of all captures
	NextDue  time.Time // earliest time at which a waiting host may be visited; zero if no host waits
}

// A Frontier stores pending URLs, leases and captures. It is safe for
// concurrent use. The changes of a call that returned nil are on disk, except
// for leases, which a power failure ends. Canceling a context interrupts the
// wait for the database, but no change that has started. Add, Revive, Claim and
// Complete return an error between End and Begin. Times have a precision of one
// microsecond.
type Frontier interface {
	// Begin continues the active run, or starts the next run and returns fresh
	// as true. The note is stored with a new run. Items that a Result has
	// parked become ready.
	Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error)

	// End ends the active run. Pending items remain for the next run.
	End(ctx context.Context) error

	// Add adds items to the active run. Items that this run already contains
	// and items in state Kept are unchanged. An item of an earlier run becomes
	// pending with the new Depth, Priority and Meta, and keeps its Via. Add
	// returns the number of items that it made pending.
	Add(ctx context.Context, items []Item) (added int, err error)

	// SetPendingLimit makes Add and Complete drop a new URL if its host already
	// has n pending URLs. Seeds and URLs of earlier runs are not dropped. Zero,
	// the default, means no limit.
	SetPendingLimit(n int64)

	// Revive makes URLs pending that this run has not added. They are the URLs
	// that an earlier run left in state Done, and the URLs in state Excluded
	// that have a capture. It returns their number.
	Revive(ctx context.Context) (n int64, err error)

	// Claim leases up to hosts hosts that have items to visit now, for the
	// duration ttl. Each Lease has up to perHost items.
	Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*Lease, error)

	// ClaimMore returns up to n further items of the host of l. It returns no
	// items if no item is due, if the host is blocked, or if l has expired.
	ClaimMore(ctx context.Context, l *Lease, n int) ([]Item, error)

	// Complete records the results of items of l.Host in one transaction. If
	// it returns an error, for example ErrFenced, it records no result. The
	// items may be items that l does not hold or that are new, because a
	// listing can describe other items. An item of another host and a name that
	// belongs to another URL are errors. The map ends has the length of each
	// WARC file up to the last complete record, by name. It may be nil. A
	// stored length never decreases.
	Complete(ctx context.Context, l *Lease, rs []Result, ends map[string]int64) error

	// Extend makes l expire after the duration ttl from now.
	Extend(ctx context.Context, l *Lease, ttl time.Duration) error

	// Release ends l. The host may be claimed again at the time next, or after
	// the time of BlockHost if that is later. The zero time means now.
	Release(ctx context.Context, l *Lease, next time.Time) error

	// BlockHost prevents visits to host until the given time, for example
	// because of a Retry-After header field. An earlier time than the stored
	// one has no effect.
	BlockHost(ctx context.Context, host string, until time.Time) error

	// Evict ends every lease. It must be called only while no other worker
	// runs.
	Evict(ctx context.Context) error

	// Items iterates over the URLs of all runs in state s, in the order in
	// which they were added.
	Items(ctx context.Context, s State) iter.Seq2[Item, error]

	// Captures iterates over all captures in the order of Complete.
	Captures(ctx context.Context) iter.Seq2[Capture, error]

	// Files iterates over the files of the most recent captures, in the order
	// in which the URLs were added.
	Files(ctx context.Context) iter.Seq2[File, error]

	// Layout returns the version of the rules for paths of the tree, which is
	// set when the frontier is created. It returns 1 for a database that does
	// not store a version.
	Layout(ctx context.Context) (int, error)

	// NewestCaptures returns the most recent capture of each URL, by
	// Capture.Key. URLs without a capture are missing in the result.
	NewestCaptures(ctx context.Context, keys []Key) (map[Key]Capture, error)

	// CapturesByDigest returns, for each digest, the first capture with a
	// record in a WARC file. Digests without one are missing in the result.
	CapturesByDigest(ctx context.Context, digests [][32]byte) (map[[32]byte]Capture, error)

	// NameOwners returns the keys of the URLs that own the folded names. The
	// key of a folder is zero. Free names are missing in the result.
	NameOwners(ctx context.Context, folds []string) (map[string]Key, error)

	// FileEnds returns the length of each WARC file up to the last complete
	// record, as passed to Complete.
	FileEnds(ctx context.Context) (map[string]int64, error)

	// Requeue makes all items in the given states pending and returns their
	// number. It may also be called between runs.
	Requeue(ctx context.Context, states ...State) (n int64, err error)

	// Stats returns the number of URLs and captures and the state of the run.
	Stats(ctx context.Context) (Stats, error)

	// Close waits for running calls and closes the database. Later calls
	// return an error.
	Close() error
}
