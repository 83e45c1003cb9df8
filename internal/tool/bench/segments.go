package main

import "github.com/anyurl/fetch/internal/test/peer"

// segmentCases returns the cases in which fetch or a rival retrieves a file in
// four parts at the same time. In two of them, the server limits the speed of
// each request.
func segmentCases() []Case {
	slow := peer.NginxOptions{Rate: "50m"}
	fetch := []string{"--no-config", "-s", "--segments", "4", "-o", "{dir}/file", "{url}"}
	return []Case{{
		Name:    "http 256 MiB, 50 MB/s a request",
		Serve:   serveFrom(slow, 256<<20),
		Fetch:   []string{"--no-config", "-s", "--segments", "4", "{url}"},
		Rivals:  []Rival{{"curl", []string{"-q", "-s", "--noproxy", "*", "{url}"}}},
		Targets: []Target{{Measure: wall, Ratio: 1. / 3}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:    "http 256 MiB, 50 MB/s a request, 4 segments into a file",
		Serve:   serveFrom(slow, 256<<20),
		Fetch:   fetch,
		Rivals:  []Rival{aria2(), pget()},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:    "http 1 GiB, 4 segments into a file",
		Serve:   serveFile(1 << 30),
		Fetch:   fetch,
		Rivals:  []Rival{aria2(), pget()},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}},
	}, {
		Name:    "ftp 1 GiB, into a file",
		Serve:   serveFTP,
		Fetch:   []string{"--no-config", "-s", "-o", "{dir}/file", "{url}"},
		Rivals:  []Rival{pget(), aria2()},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 32 << 20}},
	}}
}

// aria2 returns the command that retrieves a file over four connections.
func aria2() Rival {
	return Rival{"aria2c", []string{"--no-conf", "-q", "--no-proxy=*", "-x4", "-s4", "-k1M", "--file-allocation=none", "-d", "{dir}", "-o", "file", "{url}"}}
}

// pget returns the lftp command that retrieves a file over four connections.
func pget() Rival {
	return Rival{"lftp", []string{"--norc", "-c", "set net:max-retries 1; set xfer:log no; pget -n 4 {url} -o {dir}/file"}}
}
