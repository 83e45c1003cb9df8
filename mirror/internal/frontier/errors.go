package frontier

import "errors"

// ErrFenced means that a lease was released, or that another worker has claimed
// the host. The call has no effect.
var ErrFenced = errors.New("the lease has passed to another worker")

// ErrAbandoned means that this worker was abandoned, so that its leases and
// results are no longer valid, or that its directory belongs to another crawl.
var ErrAbandoned = errors.New("this worker was abandoned, or its directory belongs to another crawl")

// ErrEnded means that all workers have completed the run, and that this worker
// does not start another run.
var ErrEnded = errors.New("the crawl is complete")

// ErrOtherFolder means that a worker with the same name uses another directory.
var ErrOtherFolder = errors.New("the name belongs to a worker with another folder")

// ErrRunning means that another process runs a worker with the same name.
var ErrRunning = errors.New("another process runs the worker with this name")

// ErrNoRun means that no run is active, because Begin was not called or End was
// called.
var ErrNoRun = errors.New("frontier: no run is active")

// ErrUnknownHost means that the frontier contains no URL of a host.
var ErrUnknownHost = errors.New("no URL of this host is known")

// ErrDamaged means that the database file is corrupt.
var ErrDamaged = errors.New("the database is damaged")
