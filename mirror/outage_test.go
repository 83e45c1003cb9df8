package mirror

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// TestOutageMemory checks the memory for servers that do not answer. A page can
// link to any number of them, with long URLs.
func TestOutageMemory(t *testing.T) {
	const servers = 20_000
	long := strings.Repeat("x", defaultURLBytes)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	s, before := newOutages(2), heap()
	for i := range servers {
		host := strconv.Itoa(i) + ".example"
		v := &visit{
			origin: fetch.Origin{Scheme: "http", Host: host, Port: 80}, requested: true, started: time.Unix(1, 0),
			err: &fetch.Error{Op: "get", URL: "http://" + host + "/" + long, Err: fetch.DNS.Errorf("no such host: %s", host)},
		}
		s.pauseUntil(v)
		if i > 0 {
			continue
		}
		if err := s.givenUp(v); fetch.FaultOf(err) != fetch.DNS || !strings.HasPrefix(err.Error(), "no such host: 0.example (no request") {
			t.Errorf("%v", err)
		}
	}
	if used := (heap() - before) / servers; used > 1000 {
		t.Errorf("%d bytes for each server", used)
	}
	runtime.KeepAlive(s.byOrigin)
}
