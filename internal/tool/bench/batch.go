package main

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/anyurl/fetch/internal/test/peer"
)

// batchCases returns the benchmark cases with many small files.
func batchCases() []Case {
	const files = 10_000
	return []Case{{
		Name:    "http 10,000 of 1 kB",
		Serve:   serveMany(files),
		Fetch:   fetchMany(),
		Rivals:  []Rival{{"curl", []string{"-q", "-s", "--noproxy", "*", "-Z", "-K", "{config}"}}},
		Targets: []Target{{Measure: wall, Ratio: 0.55}, {Measure: cpu, Ratio: 0.5}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:        "http 10,000 of 1 kB, into files",
		Serve:       serveMany(files),
		Fetch:       fetchMany("--output-dir", "{dir}"),
		Rivals:      []Rival{{"curl", []string{"-q", "-s", "--noproxy", "*", "-Z", "--output-dir", "{dir}", "--remote-name-all", "-K", "{config}"}}},
		Items:       files,
		Targets:     []Target{{Measure: wall, Ratio: 0.75}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}, maxFileSyncs},
		DiskTargets: []Target{{Measure: wall, Ratio: 0.8}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}, maxFileSyncs},
	}, {
		Name:    "http/2 10,000 of 1 kB",
		Serve:   serveManyHTTP2(files),
		Fetch:   fetchMany("--cacert", "{cert}"),
		Rivals:  []Rival{{"curl", []string{"-q", "-s", "--noproxy", "*", "-Z", "--http2", "--cacert", "{cert}", "-K", "{config}"}}},
		Targets: []Target{{Measure: wall, Ratio: 0.75}, {Measure: cpu, Ratio: 0.75}, {Measure: memory, Limit: 64 << 20}},
	}}
}

// maxFileSyncs is the target for downloads of many files: a sync of each file,
// and a sync of the folder for 64 files. The last folder is synced at the end.
var maxFileSyncs = Target{Measure: syncs, Limit: 1 + 1.0/64 + 0.001}

// fetchMany returns the arguments with which fetch retrieves a list of URLs in
// parallel.
func fetchMany(flags ...string) []string {
	return append([]string{"--no-config", "-s", "-Z", "--input-file", "{list}"}, flags...)
}

// serveMany returns a function that starts nginx with many files, which all
// contain the same 1,000 bytes. They are equal because curl mixes the output of
// parallel transfers. nginx does not limit the number of requests per
// connection.
func serveMany(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, peer.NginxOptions{HTTP: "keepalive_requests 1000000;"})
		return putMany(s, "http://"+s.Addr, files)
	}
}

// serveManyHTTP2 is like serveMany with https URLs and HTTP/2.
func serveManyHTTP2(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := peer.Nginx(t, peer.NginxOptions{HTTP2: true, HTTP: "keepalive_requests 1000000;"})
		object := putMany(s, "https://"+s.TLSAddr, files)
		object.Words["cert"] = s.Cert.File
		return object
	}
}

// putMany creates the files of serveMany. It also creates two lists of their
// URLs, one for fetch and one for curl. The URLs begin with base.
func putMany(s *peer.Server, base string, files int) Object {
	var list, config strings.Builder
	body := []byte(strings.Repeat("x", 1000))
	sum := sha256.New()
	for i := range files {
		name := fmt.Sprintf("f/%05d", i)
		s.Put(name, body)
		sum.Write(body)
		fmt.Fprintf(&list, "%s/%s\n", base, name)
		fmt.Fprintf(&config, "url = \"%s/%s\"\n", base, name)
	}
	return Object{Sum: [sha256.Size]byte(sum.Sum(nil)), Words: map[string]string{
		"list":   s.Put("list", []byte(list.String())),
		"config": s.Put("config", []byte(config.String())),
	}}
}
