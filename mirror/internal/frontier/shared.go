package frontier

import (
	"context"
	"errors"
	"iter"
	"time"
)

// A Database stores a Frontier that the workers of a crawl share.
type Database interface {
	// Join opens the Frontier for the worker w, and creates its tables if they
	// are missing. It registers w in the crawl and sets w.Incarnation, which the
	// caller must store in the folder. If w has a name, Evict and FileEnds apply
	// only to its leases and its files.
	Join(ctx context.Context, w *Worker) (Shared, error)

	// View opens an existing Frontier without a worker. If the Frontier does not
	// exist, the error wraps ErrNoCrawl.
	View(ctx context.Context) (Shared, error)

	// Registered reports whether the crawl has a worker with the name and the
	// folder of w. If so, it sets w.Incarnation. It waits for the end of a
	// running Import.
	Registered(ctx context.Context, w *Worker) (bool, error)
}

// ErrNoCrawl means that a Database contains no crawl.
var ErrNoCrawl = errors.New("there is no crawl")

// ErrOccupied means that Import cannot copy a crawl to a Database, because it
// already contains a crawl.
var ErrOccupied = errors.New("the schema already contains a crawl: name another one with search_path")

// MaxSkipped is the maximum number of hosts that Shared.Skip adds. Each claim
// sends their names to the database.
const MaxSkipped = 1000

// A Shared is a Frontier that several workers share.
type Shared interface {
	Frontier

	// Ledger returns the record of the WARC files of the crawl.
	Ledger() Ledger

	// Report records that the worker is alive, and how many URLs and bytes it
	// retrieves per second.
	Report(ctx context.Context, urlRate, byteRate float64) error

	// ChangeNote replaces the note of the newest run by the result of change. It
	// can call change several times. If there is no run, the error is ErrNoRun.
	ChangeNote(ctx context.Context, change func(note []byte) ([]byte, error)) error

	// ChangedNote returns the note of the newest run and its version. If this
	// version equals the parameter version, it does not read the note, and changed
	// is false. The version "" means that no note is known.
	ChangedNote(ctx context.Context, version string) (note []byte, now string, changed bool, err error)

	// Skip makes Claim return no leases of a host. Other workers can still claim
	// the host. Stats.Open does not count the host. Skip returns false if
	// MaxSkipped other hosts are skipped already. SkipNone undoes all calls.
	Skip(host string) bool
	SkipNone()

	// Workers returns the workers of the crawl, ordered by name.
	Workers(ctx context.Context) ([]WorkerState, error)

	// Abandon removes a worker from the crawl, because its directory is lost. Its
	// later calls fail with ErrAbandoned. Its files in the store remain a part of
	// the crawl. The captures in its other files count as lost, and their URLs
	// become pending. If the run has ended, Abandon continues it for these URLs.
	// A new directory can take the name of the worker.
	//
	// Abandon returns an error if the worker was active during the last
	// AbandonOptions.Quiet.
	Abandon(ctx context.Context, worker string, o AbandonOptions) (Abandoned, error)

	// Reopen continues the newest run if it has ended. Its workers then visit the
	// URLs that became pending after the end of the run.
	Reopen(ctx context.Context) error

	// Import copies a crawl to this Frontier, which must be empty. The worker w
	// becomes the owner of the WARC files, and Import sets w.Incarnation. The note
	// replaces the note of the newest run. If Import fails or is interrupted, the
	// Frontier remains empty, unless the connection fails during the commit.
	//
	// The rows are streamed, so memory use is constant. Hosts are not visited
	// before w.Pause has passed.
	Import(ctx context.Context, w *Worker, note []byte, tables []ExportedTable) error
}

// A Worker identifies a process that takes part in a crawl with its own folder.
// The zero value is a process that only reads or administers the crawl.
type Worker struct {
	Name        string
	Folder      string        // random identifier of the folder
	Place       string        // machine and path of the folder, which the caller has locked; text after "#" is not shown
	Incarnation int64         // incarnation that the folder has stored, or 0 for a new folder
	Pause       time.Duration // minimum time between a call of Evict and the next claim of the same host
	Again       bool          // if false, Begin continues a run, but starts no run after the first
	Outage      func(error)   // called when the database becomes unavailable, and with nil when it responds again; or nil
	Stores      bool          // if true, the worker uploads its WARC files to a store
}

// A WorkerState describes a worker of a shared crawl.
type WorkerState struct {
	Name              string
	Beat              time.Time     // time of the most recent claim, report or upload
	Silent            time.Duration // time since Beat
	URLRate, ByteRate float64       // URLs and bytes per second, according to the most recent report
	Leases            int64         // hosts that the worker has leased
	Files             int64         // WARC files
	Stored            int64         // WARC files that are in the store
	Waiting           int64         // finished WARC files that are not in the store yet
	Spool             int64         // total size of these files, in bytes
}

// AbandonOptions configures Shared.Abandon.
type AbandonOptions struct {
	Quiet  time.Duration // minimum time since the last activity of the worker
	Stored []string      // names of finished files of the worker whose objects are in the store
	DryRun bool          // if true, Abandon changes nothing
}

// An Abandoned is the result of Shared.Abandon. It counts the changes. With
// DryRun, it counts the changes that Abandon would make.
type Abandoned struct {
	Stored  int64 // files that Abandon records as stored
	Files   int64 // lost WARC files of the worker
	Records int64 // captures whose records are in these files
	URLs    int64 // URLs that become pending
	Leases  int64 // leases that end
}

// A Ledger records which WARC files of a crawl are in the store. It is safe for
// concurrent use. If the worker that uses the Ledger was abandoned, the methods
// change nothing and return an error that wraps ErrAbandoned.
type Ledger interface {
	// Finish records the size and the digest of a complete file of this worker,
	// before the file is uploaded. If the file is already recorded with other
	// values, the error wraps ErrOtherBytes.
	Finish(ctx context.Context, f *WARCFile) error

	// Store records that a file of this worker is in the store. The file must
	// have been passed to Finish.
	Store(ctx context.Context, name string) error

	// Beat records that this worker is active, although it claims no hosts.
	Beat(ctx context.Context) error

	// Unstored returns the files of a worker whose state is not FileStored.
	Unstored(ctx context.Context, worker string) ([]WARCFile, error)

	// Find returns the files with the given names.
	Find(ctx context.Context, names []string) ([]WARCFile, error)

	// NewestStored returns the newest file of all workers whose state is
	// FileStored. If no file has this state, found is false.
	NewestStored(ctx context.Context) (f WARCFile, found bool, err error)

	// All returns the files of all workers in the order in which they were
	// created.
	All(ctx context.Context) iter.Seq2[WARCFile, error]

	// Count returns the number of files of this worker, including the files of
	// its earlier incarnations.
	Count(ctx context.Context) (int64, error)
}

// A FileState records whether a WARC file is complete, and whether it is in the
// store.
type FileState int16

const (
	FileWritten  FileState = iota // a worker appends records to the file
	FileFinished                  // the file is complete, but may not be in the store yet
	FileStored                    // the store has confirmed the file
)

// A WARCFile describes a WARC file of a crawl. If State is FileWritten, Size is
// the offset after the last committed record, and SHA256 is zero.
type WARCFile struct {
	Name   string
	Worker string
	State  FileState
	Size   int64
	SHA256 [32]byte
}

// ErrOtherBytes means that a file does not have the size or the digest that the
// database contains.
var ErrOtherBytes = errors.New("the file differs from its description in the database")
