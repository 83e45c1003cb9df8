package wrap

import (
	"log/slog"

	"github.com/anyurl/fetch/fetch"
)

// Options select the middlewares of [Standard]. The zero value retries, and
// adds nothing else.
type Options struct {
	Log      *slog.Logger   // nil: no log
	Progress func(Event)    // nil: no progress
	Cache    *CacheOptions  // nil: listings are not cached
	Segments int            // requests for one body at a time; below 2: one
	Retry    RetryOptions   // Attempts 1: no retry
	Polite   *PoliteOptions // nil: requests to a host do not wait for each other
	Rate     int64          // of all bodies, in bytes per second; 0: no limit
}

// Standard returns the middlewares of o for fetch.Options.Wrap, in the order in
// which they understand each other. A middleware of the caller before them sees
// a request once, however often it is retried. One behind them sees each attempt.
func Standard(o Options) []fetch.Middleware {
	all := []fetch.Middleware{
		Log(o.Log),           // what the caller sees
		Progress(o.Progress), // of one body, however often it is resumed
	}
	if o.Cache != nil {
		all = append(all, Cache(*o.Cache)) // before any request
	}
	all = append(all, Segments(o.Segments), Retry(o.Retry)) // a segment is retried, not the object
	if o.Polite != nil {
		all = append(all, Polite(*o.Polite)) // each attempt waits, outside the network
	}
	return append(all, Limit(o.Rate))
}
