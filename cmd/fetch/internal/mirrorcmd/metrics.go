package mirrorcmd

import (
	"context"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/metrics"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway"
	"github.com/anyurl/fetch/mirror"
)

// serveMetrics serves the metrics of a mirror at an address until the caller
// calls stop. An empty host is an error, because the server would listen on all
// addresses.
func serveMetrics(s *console.Streams, ctx context.Context, address string, m *mirror.Monitor) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	if host, _, err := net.SplitHostPort(address); err == nil && host == "" {
		return nil, fetch.Usage.Errorf("--metrics %s: an IP address is required, such as 127.0.0.1%[1]s", address)
	}
	l, err := gateway.ListenPublic(address)
	if err != nil {
		return nil, fetch.FaultOf(err).Errorf("--metrics: %w", err)
	}
	s.Note("the metrics are at http://%s/metrics", l.Addr())
	ctx, cancel := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() {
		metrics.Serve(ctx, l, func(ctx context.Context) []metrics.Family { return mirrorMetrics(ctx, m) })
	})
	return func() { cancel(); served.Wait() }, nil
}

// crawledTime is the maximum time for the database query that counts the URLs
// of a crawl. Prometheus waits for ten seconds by default.
const crawledTime = 3 * time.Second

// mirrorMetrics returns the metrics of a mirror. If the frontier database does
// not respond, they contain only the metrics of this process.
func mirrorMetrics(ctx context.Context, m *mirror.Monitor) []metrics.Family {
	all := []metrics.Family{{
		Name: "fetch_build_info", Type: metrics.Gauge, Help: "Version of the program; the value is always 1.",
		Label: "version", Samples: []metrics.Sample{{Label: console.CurrentVersion().Number, Value: 1}},
	}}
	own, ok := m.Metrics()
	if !ok {
		return all
	}
	all = append(all, processMetrics(&own)...)
	ctx, cancel := context.WithTimeout(ctx, crawledTime)
	defer cancel()
	crawl, err := m.Crawled(ctx)
	up := metrics.Single("fetch_frontier_up", metrics.Gauge, "Whether the database responds; without it, the metrics fetch_crawl_* are missing.", 1)
	if err != nil {
		up.Samples[0].Value = 0
		return append(all, up)
	}
	return append(append(all, up), crawlMetrics(&crawl)...)
}

// processMetrics returns the metrics of this process.
func processMetrics(m *mirror.Metrics) []metrics.Family {
	return []metrics.Family{
		labeled("fetch_visits_total", metrics.Counter, "Visits of URLs by this process, by outcome.", "outcome", m.Visits),
		labeled("fetch_errors_total", metrics.Counter, "Visits with an error, including repeated visits, by class of the error.", "kind", m.Errors),
		metrics.Single("fetch_object_bytes_total", metrics.Counter, "Size of the new and changed objects.", float64(m.Bytes)),
		metrics.Single("fetch_requests_total", metrics.Counter, "Requests to servers.", float64(m.Requests)),
		metrics.Single("fetch_response_seconds_total", metrics.Counter,
			"Sum of the times from each request to the start of its response.", m.ResponseTime.Seconds()),
		metrics.Single("fetch_lost_leases_total", metrics.Counter,
			"Hosts that another worker has taken over, because a lease expired.", float64(m.LostLeases)),
		metrics.Single("fetch_active_hosts", metrics.Gauge, "Hosts that this process visits.", float64(m.Hosts)),
		metrics.Single("fetch_upload_waiting_files", metrics.Gauge, "Finished WARC files that wait for their upload.", float64(m.WaitingFiles)),
		metrics.Single("fetch_upload_waiting_bytes", metrics.Gauge, "Size of the WARC files that wait for their upload.", float64(m.WaitingBytes)),
	}
}

// crawlMetrics returns the metrics of the whole crawl, which are the same for
// all of its workers.
func crawlMetrics(c *mirror.Crawled) []metrics.Family {
	states := map[string]int64{}
	for _, s := range []mirror.State{mirror.Pending, mirror.Done, mirror.Kept, mirror.Gone, mirror.Dead, mirror.Excluded} {
		states[string(s)] = c.States[s]
	}
	return []metrics.Family{
		metrics.Single("fetch_crawl_run", metrics.Gauge, "Number of the run, from 1.", float64(c.Run)),
		labeled("fetch_crawl_urls", metrics.Gauge, "URLs of the run and all pending URLs, by state.", "state", states),
		metrics.Single("fetch_crawl_queue_urls", metrics.Gauge, "URLs that the run has not visited yet.",
			float64(c.States[mirror.Pending]-c.Unreached)),
		metrics.Single("fetch_crawl_unreached_urls", metrics.Gauge, "URLs left for the next run, because their servers cannot be reached.",
			float64(c.Unreached)),
		metrics.Single("fetch_crawl_hosts", metrics.Gauge, "Hosts with pending URLs.", float64(c.Hosts)),
		metrics.Single("fetch_crawl_waiting_hosts", metrics.Gauge, "Hosts with pending URLs that no worker may visit yet.", float64(c.Waiting)),
		metrics.Single("fetch_crawl_captures", metrics.Gauge, "Retrieved objects of all runs, with all versions.", float64(c.Captures)),
		metrics.Single("fetch_crawl_captured_bytes", metrics.Gauge, "Size of the retrieved objects of all runs.", float64(c.Bytes)),
		metrics.Single("fetch_crawl_workers", metrics.Gauge, "Workers that were active during the last five minutes.", float64(c.Workers)),
	}
}

// labeled returns a metric family with one sample for each key of values. The
// key becomes the label of the sample.
func labeled(name string, t metrics.Type, help, label string, values map[string]int64) metrics.Family {
	f := metrics.Family{Name: name, Type: t, Help: help, Label: label}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		f.Samples = append(f.Samples, metrics.Sample{Label: key, Value: float64(values[key])})
	}
	return f
}
