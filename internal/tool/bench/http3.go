package main

import (
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

// newer is the prefix of Rival.Program for programs of Debian 13.
const newer = "debian13/"

// http3Cases returns the benchmark cases for HTTP/3. The server is the nginx of
// Debian 13.
func http3Cases() []Case {
	curl := func(args ...string) Rival {
		return Rival{newer + "usr/bin/curl", append([]string{"-q", "-sS", "--noproxy", "*", "--http3-only", "--cacert", "{cert}"}, args...)}
	}
	return []Case{{
		Name:    "http/3 1 GiB",
		Serve:   serveHTTP3File(1 << 30),
		Fetch:   []string{"--no-config", "--http3-only", "--cacert", "{cert}", "{url}"},
		Rivals:  []Rival{curl("{url}")},
		Targets: []Target{{Measure: cpu, Ratio: 0.7}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:    "http/3 10,000 of 1 kB",
		Serve:   serveManyHTTP3(10_000),
		Fetch:   fetchMany("--http3-only", "--cacert", "{cert}"),
		Rivals:  []Rival{curl("-Z", "-K", "{config}")},
		Targets: []Target{{Measure: cpu, Ratio: 0.7}, {Measure: memory, Limit: 64 << 20}},
	}}
}

// http3Options does not limit the number of requests per connection.
func http3Options() peer.HTTP3Options {
	return peer.HTTP3Options{Server: "keepalive_requests 1000000;"}
}

// serveHTTP3File returns a function that starts a server with one file of random
// bytes.
func serveHTTP3File(size int64) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.NginxHTTP3(t, http3Options())
		sum, err := writeRandom(filepath.Join(s.Root, "file"), size)
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Sum: sum, Words: map[string]string{"url": "https://" + s.TLSAddr + "/file", "cert": s.Cert.File}}
	}
}

// serveManyHTTP3 is like serveMany with HTTP/3.
func serveManyHTTP3(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.NginxHTTP3(t, http3Options())
		object := putMany(s, "https://"+s.TLSAddr, files)
		object.Words["cert"] = s.Cert.File
		return object
	}
}
