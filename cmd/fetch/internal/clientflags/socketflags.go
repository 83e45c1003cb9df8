package clientflags

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
)

// socketFlags are the flags for the sockets of connections: local ports,
// keep-alive messages, and the delay between attempts to connect.
type socketFlags struct {
	ports       [2]uint16
	delay       int // in milliseconds
	keepAlive   int // in seconds
	probes      int
	noKeepAlive bool
}

// Limits for the values of these flags.
const (
	maxSeconds = 32767 // the largest time between keep-alive messages on Linux
	maxProbes  = 127   // the largest number of keep-alive messages on Linux
	maxDelay   = 600_000
)

func (f *socketFlags) register(s *options.Set) {
	p := s.Section("Connections and proxies")
	p.Func("local-port", "use a local port of the range `FIRST[-LAST]`", f.setPorts)
	p.IntVar(&f.delay, "happy-eyeballs-timeout-ms", 0, "try the next address of a host after `N` milliseconds (default 250)")
	p.IntVar(&f.keepAlive, "keepalive-time", 0, "send keep-alive messages every `N` seconds (default 15)")
	p.IntVar(&f.probes, "keepalive-cnt", 0, "close a connection after `N` unanswered keep-alive messages")
	p.BoolVar(&f.noKeepAlive, "no-keepalive", false, "send no keep-alive messages")
}

// setPorts parses the argument of --local-port.
func (f *socketFlags) setPorts(text string) error {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	a, err1 := strconv.ParseUint(strings.TrimSpace(first), 10, 16)
	b, err2 := strconv.ParseUint(strings.TrimSpace(last), 10, 16)
	if err1 != nil || err2 != nil || a == 0 || b < a {
		return fetch.Usage.Errorf("--local-port %q is not a port or a range such as 4000-4100", text)
	}
	f.ports = [2]uint16{uint16(a), uint16(b)}
	return nil
}

// apply sets the settings of sockets in o.
func (f *socketFlags) apply(o *fetch.Options) error {
	for _, v := range []struct {
		name       string
		value, max int
	}{
		{"happy-eyeballs-timeout-ms", f.delay, maxDelay},
		{"keepalive-time", f.keepAlive, maxSeconds}, {"keepalive-cnt", f.probes, maxProbes},
	} {
		if v.value < 0 || v.value > v.max {
			return fetch.Usage.Errorf("--%s %d is not a number from 0 to %d", v.name, v.value, v.max)
		}
	}
	o.LocalPorts = f.ports
	o.AttemptDelay = f.headStart()
	switch interval := time.Duration(f.keepAlive) * time.Second; {
	case f.noKeepAlive:
		o.KeepAlive = new(net.KeepAliveConfig)
	case f.keepAlive > 0 || f.probes > 0:
		o.KeepAlive = &net.KeepAliveConfig{Enable: true, Idle: interval, Interval: interval, Count: f.probes}
	}
	return nil
}

// headStart returns the delay that --happy-eyeballs-timeout-ms selects, or 0 for
// the default. It is also the time after which --http3 tries TCP.
func (f *socketFlags) headStart() time.Duration { return time.Duration(f.delay) * time.Millisecond }
