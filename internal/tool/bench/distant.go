package main

import (
	"io"
	"net"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// distantCases returns the cases with servers that are 20 and 100 ms away.
func distantCases() []Case {
	const files, fewer = 10_000, 1000
	curl := Rival{"curl", []string{"-q", "-s", "--noproxy", "*", "-Z", "-K", "{config}"}}
	aria := Rival{"aria2c", []string{"--no-conf", "-q", "--no-proxy=*", "-j50", "--file-allocation=none", "-d", "{dir}", "-i", "{list}"}}
	wget := Rival{"wget2", []string{"--no-config", "--no-proxy", "--no-hsts", "-q", "-P", "{dir}", "-i", "{list}"}}
	level := []Target{{Measure: wall, Ratio: 1.1}, {Measure: memory, Limit: 64 << 20}}
	return []Case{{
		Name:    "http 10,000 of 1 kB, 20 ms away",
		Serve:   serveDistant(files, 20*time.Millisecond),
		Fetch:   fetchMany(),
		Rivals:  []Rival{curl},
		Targets: level,
	}, {
		Name:    "http 10,000 of 1 kB, 100 ms away",
		Serve:   serveDistant(files, 100*time.Millisecond),
		Fetch:   fetchMany(),
		Rivals:  []Rival{curl},
		Targets: level,
	}, {
		Name:        "http 1,000 of 1 kB, 20 ms away, into files",
		Serve:       serveDistant(fewer, 20*time.Millisecond),
		Items:       fewer,
		Fetch:       fetchMany("--output-dir", "{dir}"),
		Rivals:      []Rival{aria, wget, {itself, fetchMany("--per-host", "1", "--output-dir", "{dir}")}},
		Targets:     level,
		DiskTargets: level,
	}}
}

// serveDistant is like serveMany, but the server is behind a relay that delays all
// bytes.
func serveDistant(files int, roundTrip time.Duration) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, peer.NginxOptions{HTTP: "keepalive_requests 1000000;"})
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		t.Cleanup(func() { l.Close() })
		go relay(l, s.Addr, roundTrip/2)
		return putMany(s, "http://"+l.Addr().String(), files)
	}
}

// relay forwards the connections of l to a server until l is closed. All bytes
// arrive later by the given time.
func relay(l net.Listener, server string, delay time.Duration) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp4", server)
		if err != nil {
			in.Close()
			continue
		}
		go forward(out, in, delay)
		go forward(in, out, delay)
	}
}

// A parcel is a part of a stream that arrives at a time.
type parcel struct {
	bytes []byte
	at    time.Time
}

// forward copies from to to, with a delay, and closes to at the end.
func forward(to io.WriteCloser, from io.Reader, delay time.Duration) {
	defer to.Close()
	way := make(chan parcel, 1024)
	go func() {
		defer close(way)
		for {
			p := make([]byte, 16<<10)
			n, err := from.Read(p)
			if n > 0 {
				way <- parcel{p[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	for range way { // until the connection has ended
	}
}
