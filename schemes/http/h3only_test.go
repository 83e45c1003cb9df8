package http

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestHTTP3Only checks that addresses that do not answer delay a request without TCP
// only a little. A server names them, and each attempt could take ten seconds.
func TestHTTP3Only(t *testing.T) {
	const ms = time.Millisecond
	const never = time.Hour
	silent := slices.Repeat([]time.Duration{never}, 24)
	for _, c := range []struct {
		name   string
		took   []time.Duration // of each address; negative for an error at this time
		limit  time.Duration   // of the request
		ends   time.Duration
		winner string
	}{
		{"one address", []time.Duration{30 * ms}, never, 30 * ms, "0"},
		{"the first address in time", []time.Duration{150 * ms, 10 * ms}, never, 150 * ms, "0"},
		{"the first address is slow", []time.Duration{300 * ms, 500 * ms}, never, 300 * ms, "0"},
		{"the first address fails", []time.Duration{-20 * ms, 30 * ms}, never, 50 * ms, "1"},
		{"no address answers but the last", append(slices.Clone(silent), 30*ms), never, 24*200*ms + 30*ms, "24"},
		{"all fail", []time.Duration{-20 * ms, -30 * ms}, never, 50 * ms, ""},
		{"end of the request", silent, time.Second, time.Second, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			transport := raceTransport{took: map[string]time.Duration{}, only: true}
			var addrs []string
			for i, d := range c.took {
				addrs = append(addrs, strconv.Itoa(i))
				transport.took[addrs[i]] = d
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			defer cancel()
			h := h3{env: fetch.Env{Net: raceNet{}}, transport: transport}
			conn, _, _, err := h.connect(ctx, "", nil, &wireRequest{address: "own"}, addrs)
			winner := ""
			if conn != nil {
				winner = conn.addr
			}
			if took := time.Since(start); winner != c.winner || took != c.ends || (err != nil) != (c.winner == "") {
				t.Errorf("%s: %q after %v, want %q after %v: %v", c.name, winner, took, c.winner, c.ends, err)
			}
		}) // synctest fails if an attempt is still running
	}
}
