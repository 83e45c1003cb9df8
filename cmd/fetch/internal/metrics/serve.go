package metrics

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/anyurl/fetch/internal/base/connlimit"
)

// Limits of the server.
const (
	maxClient    = 64  // connections of a client at a time
	maxConns     = 256 // connections at a time
	maxHeader    = 8 << 10
	readTimeout  = 5 * time.Second  // time to receive a request
	writeTimeout = 10 * time.Second // time to collect and send the metrics
)

// Serve answers HTTP requests on l with the metrics that collect returns. It
// may call collect concurrently. If a client or all clients have too many
// connections, Serve closes the oldest one, so that slow clients cannot keep
// others from reading the metrics. When ctx ends, Serve closes l and all
// connections, and returns. If l has a loopback address, Serve rejects requests
// for other host names, because a web page could use such a name to read the
// metrics.
func Serve(ctx context.Context, l net.Listener, collect func(context.Context) []Family) {
	server := &http.Server{
		Handler:        handler{collect: collect, loopback: isLoopback(l.Addr().String())},
		MaxHeaderBytes: maxHeader, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	server.SetKeepAlivesEnabled(false)
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	// After an error other than http.ErrServerClosed, the crawl continues
	// without metrics.
	table := &connlimit.Table{PerClient: maxClient, Total: maxConns, Replace: true}
	server.Serve(&connlimit.Listener{Listener: l, Admit: table.Admit, Stall: writeTimeout})
}

type handler struct {
	collect  func(context.Context) []Family
	loopback bool // if true, l has a loopback address
}

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case h.loopback && !isLoopback(r.Host):
		http.Error(w, "the server answers only requests for a loopback address", http.StatusMisdirectedRequest)
	case r.URL.Path != "/metrics":
		http.Error(w, "the metrics are at /metrics", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are supported", http.StatusMethodNotAllowed)
	default:
		text := Encode(h.collect(r.Context()))
		head := w.Header()
		head.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		head.Set("Content-Length", strconv.Itoa(len(text)))
		head.Set("Cache-Control", "no-store")
		head.Set("X-Content-Type-Options", "nosniff")
		w.Write(text)
	}
}

// isLoopback reports whether the host of an address is localhost or a loopback
// address. The port is optional.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
