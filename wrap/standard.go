package wrap

import (
	"log/slog"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// Options selects the middlewares that [Standard] returns. The zero value
// selects only retries and the verification of announced digests.
type Options struct {
	Spans    trace.StartFunc // nil means no spans; see the function Spans
	Log      *slog.Logger    // nil means no log
	Progress func(Event)     // nil means no progress reports
	Cache    *CacheOptions   // nil means no cache of listings
	Segments int             // number of concurrent requests for one body; no segments if below 2
	Retry    RetryOptions    // Attempts 1 means no retries
	Polite   *PoliteOptions  // nil means no limit on the requests to a host
	Rate     int64           // limit on the total transfer rate in bytes per second; 0 means no limit
}

// Standard returns the middlewares that Options selects, for
// fetch.Options.Wrap. They are in the correct order. A middleware that is
// placed before them runs once per request, regardless of retries. A middleware
// that is placed after them runs once per attempt.
func Standard(o Options) []fetch.Middleware {
	all := []fetch.Middleware{
		Spans(o.Spans),       // a span covers all retries
		Log(o.Log),           // logs one request, even if it is retried
		Progress(o.Progress), // reports one body, even if it is resumed
		Verify,               // compares one body, even if it is resumed
	}
	if o.Cache != nil {
		all = append(all, Cache(*o.Cache)) // handles a request before it is sent
	}
	all = append(all, Segments(o.Segments), Retry(o.Retry)) // retries apply to each segment
	if o.Polite != nil {
		all = append(all, Polite(*o.Polite)) // each attempt waits
	}
	return append(all, Limit(o.Rate))
}
