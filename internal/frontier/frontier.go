// Package frontier keeps what a mirror has still to visit, and what it has
// brought: one set of tables, changed in transactions, that survives a kill at
// any instant.
//
// [Open] returns the engine that a name asks for. A worker calls Begin once,
// then Claim, More and Complete until nothing is left, and Release.
//
// What is given out is not a URL but a host: a [Lease] is one worker's sole
// right to ask one host, so that what a host may be asked at once, and how
// often, is decided in one place. A lease has an epoch, which moves on when it
// is taken away from a worker that died: what the dead one says then is
// [ErrFenced]. While a lease lasts its items stay pending in the tables, so
// that a crash leaves nothing to repair.
//
// A run visits every URL once. The next run starts from the seeds again, and a
// URL comes back into it when somebody adds it: whoever read a listing adds
// what it lists. When nothing is left, Revive brings back what was brought
// once and nothing leads to any more, or only a page that is as it was.
package frontier

import (
	"context"
	"crypto/sha256"
	"errors"
	"iter"
	"slices"
	"time"
)

// ErrFenced says that a lease has passed to somebody else, or was given back.
// Nothing of the call took effect.
var ErrFenced = errors.New("the lease has passed to another worker")

// ErrDamaged says that what is on the disk is no frontier any more.
var ErrDamaged = errors.New("the database is damaged")

// A Key names a URL in every table: the first 16 bytes of the SHA-256 of its
// canonical form.
type Key [16]byte

// KeyOf is the key of a URL in canonical form.
func KeyOf(url string) Key {
	sum := sha256.Sum256([]byte(url))
	return Key(sum[:16])
}

// IsZero reports whether k names no URL.
func (k Key) IsZero() bool { return k == Key{} }

// An Item is a URL to visit.
type Item struct {
	Key       Key
	URL       string
	Host      string    // whose lease it needs
	Via       Key       // the listing or page that led to it first; zero: a seed
	Depth     int       // links from a seed
	Priority  int       // the lowest comes first; among equals, the first added
	NotBefore time.Time // zero: at once
	Meta      []byte    // the caller's: what the newest Add said

	// Set by the Frontier, and not read by it.
	Run      int64    // the newest that has seen it
	Attempts int      // that failed in this run
	Note     string   // of the newest Result
	Last     *Capture // the newest that is whole; nil: none
}

// State is where a URL stands in the run that visited it last.
type State uint8

const (
	Pending  State = iota // to be visited, or to be visited again at Result.Retry
	Done                  // brought, or found as it was
	Kept                  // brought, and can never change: no later run visits it
	Gone                  // was brought once; the server has it no more
	Dead                  // failed for good
	Excluded              // robots.txt, a type, a size or another rule kept it out
)

var states = [...]string{"pending", "done", "kept", "gone", "dead", "excluded"}

// String is the name of s in records.
func (s State) String() string { return states[min(int(s), len(states)-1)] }

// ParseState reads what String wrote.
func ParseState(name string) (State, bool) {
	i := slices.Index(states[:], name)
	return State(max(i, 0)), i >= 0
}

// MarshalText is String.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Capture is an object that was brought, whole, and where it lies.
type Capture struct {
	Key   Key
	URL   string // the record's: that of the Item, or a name the protocol has for the object (news:MESSAGE-ID)
	Run   int64
	Time  time.Time
	Kind  string // fetch.Kind
	Media string
	Code  int
	Size  int64 // bytes of the payload

	Digest    [32]byte  // SHA-256 of the payload
	Validator string    // for the next request; "": there is none
	Modified  time.Time // by the server; zero: unknown

	Path  string // in the tree; "": not there
	File  string // the WARC that holds the record; "": none
	At    int64  // where its member begins
	Bytes int64  // how long its member is
	ID    string // WARC-Record-ID
	Proof string // WARC-Payload-Digest
}

// A File is what stands in the tree for a URL.
type File struct {
	Path   string
	Digest [32]byte
	State  State // of the URL
}

// A Name is a claim to a path of the tree, folded as the strictest file system
// folds names.
type Name struct {
	Fold string
	Key  Key // of the URL whose file it is; zero: a folder
}

// A Result tells what became of one Item.
type Result struct {
	Item     Item
	State    State
	Retry    time.Time // where State is Pending
	Park     bool      // where State is Pending: not before the next Begin
	Note     string    // why, where it did not go well
	Capture  *Capture  // nil: nothing new was brought
	Names    []Name    // claimed for Capture.Path
	Children []Item    // to be added, as Add does
}

// A Lease is one worker's right to one host. It is used by one goroutine at a
// time. When its time is over it holds on until somebody else claims the host:
// what its worker did need not be done again.
type Lease struct {
	Host  string
	Epoch int64
	Until time.Time
	Items []Item // handed out by Claim

	// Out holds the items handed out and not yet completed, with what the
	// Frontier calls them. It belongs to that.
	Out map[Key]int64
}

// Stats counts what a frontier holds.
type Stats struct {
	Run      int64  // the newest
	Note     []byte // of its Begin
	Started  time.Time
	Ended    time.Time       // zero: it goes on
	States   map[State]int64 // of the URLs that this run has seen, and all that are pending
	URLs     int64           // of all runs
	Parked   int64           // those of the pending URLs that wait for the next Begin
	Dropped  int64           // URLs that Limit has kept out since Open
	Hosts    int64           // with something pending
	Captures int64
	Bytes    int64     // of their payloads
	Next     time.Time // when the first host that must wait may be asked; zero: none waits
}

// A Frontier is safe for concurrent use. What a call that returned nil said is
// on disk, but for leases, which a loss of power ends. A context ends the wait
// for a turn, and no change that has begun. Between End and Begin, Add, Revive,
// Claim and Complete are an error. Times are kept to the microsecond.
type Frontier interface {
	// Begin continues the run that has not ended, or starts the next one,
	// which is then new. Note is kept with it: how it was asked for. Items
	// that a Result has parked become ready.
	Begin(ctx context.Context, note []byte) (run int64, fresh bool, err error)

	// End ends the run. Pending items stay for the next.
	End(ctx context.Context) error

	// Add puts items into the run. One that this run has seen is left as it
	// is, and so is one that is Kept; one of an earlier run becomes pending
	// with the new Depth, Priority and Meta, and keeps its Via. It returns how
	// many are pending by it.
	Add(ctx context.Context, items []Item) (added int, err error)

	// Limit makes Add and Complete leave out a URL that no run has seen, if
	// something led to it and its host has n pending ones already. Zero, as
	// after Open, is no limit.
	Limit(n int64)

	// Revive makes pending what an earlier run left Done, or Excluded although
	// it was retrieved once, and this run has not seen.
	Revive(ctx context.Context) (n int64, err error)

	// Claim leases up to hosts hosts that have something to be visited now,
	// each with up to perHost items, for ttl.
	Claim(ctx context.Context, worker string, hosts, perHost int, ttl time.Duration) ([]*Lease, error)

	// More hands out up to n further items of l, which may be none: there is
	// nothing due, the host is blocked, or the time of l is over.
	More(ctx context.Context, l *Lease, n int) ([]Item, error)

	// Complete records what became of items of l.Host, in one transaction:
	// all of it, or ErrFenced and nothing. The items need not be of those
	// handed out: a listing tells what became of others too, and adds those
	// that were unknown. An item of another host is an error, and so is a name
	// that is another's. Ends says how far the WARC files are whole by now, by
	// name; it may be nil. It never makes one shorter.
	Complete(ctx context.Context, l *Lease, rs []Result, ends map[string]int64) error

	// Extend moves the end of l to ttl from now.
	Extend(ctx context.Context, l *Lease, ttl time.Duration) error

	// Release gives l back. The host may be asked again from next on, unless
	// BlockHost has said later; the zero time is at once.
	Release(ctx context.Context, l *Lease, next time.Time) error

	// BlockHost lets nobody ask host before until: its Retry-After. It is not
	// made shorter.
	BlockHost(ctx context.Context, host string, until time.Time) error

	// Evict ends every lease. Only who knows that no other worker lives may
	// call it.
	Evict(ctx context.Context) error

	// Items yields the URLs in state s, whatever run left them so, in the
	// order in which they were added.
	Items(ctx context.Context, s State) iter.Seq2[Item, error]

	// Captures yields what was brought, in the order in which it was.
	Captures(ctx context.Context) iter.Seq2[Capture, error]

	// Files yields what the newest captures of all URLs put into the tree, in
	// the order in which the URLs were added.
	Files(ctx context.Context) iter.Seq2[File, error]

	// Layout returns the version of the rules by which the tree was begun: 1
	// for a frontier that does not record it.
	Layout(ctx context.Context) (int, error)

	// Brought finds the newest captures of URLs, by Capture.Key.
	Brought(ctx context.Context, keys []Key) (map[Key]Capture, error)

	// Payloads finds the first captures with these digests that have a record
	// in a WARC.
	Payloads(ctx context.Context, digests [][32]byte) (map[[32]byte]Capture, error)

	// Named finds who claimed these folded names.
	Named(ctx context.Context, folds []string) (map[string]Key, error)

	// Ends tells how far each WARC file is whole: what Complete was told.
	Ends(ctx context.Context) (map[string]int64, error)

	// Requeue makes items in these states pending, whatever run left them so.
	// It also serves between runs.
	Requeue(ctx context.Context, states ...State) (n int64, err error)

	Stats(ctx context.Context) (Stats, error)
	Close() error
}
