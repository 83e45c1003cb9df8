package main

import "github.com/anyurl/fetch/internal/test/peer"

// gowarc is a Rival.Program: the program warc of the Internet Archive.
const gowarc = "gowarc"

// verifyCases returns the case that verifies a WARC file of 1 GiB. sha256sum,
// which only reads the file, shows the cost of one digest.
func verifyCases() []Case {
	const file = "{archive}/warc/pages.warc.gz"
	return []Case{{
		Name:    "verify, WARC file of 1 GiB",
		Serve:   serveLargeFile,
		Fetch:   []string{"--no-config", "-s", "verify", file},
		Rivals:  []Rival{{gowarc, []string{"verify", "--json", file}}, {"sha256sum", []string{file}}},
		Targets: []Target{{Measure: wall, Ratio: 0.6}, {Measure: memory, Limit: 64 << 20}},
	}}
}

// serveLargeFile writes an archive with a WARC file of 1 GiB. The outputs of the
// programs are different, so only their exit statuses are checked.
func serveLargeFile(t peer.TB) Object {
	object := writeLargeArchive(1 << 30 / largeRecord)(t)
	object.CheckDir = func(string) error { return nil }
	return object
}
