package main

import (
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

// startCases returns a case without a network, which measures the start of the
// process.
func startCases() []Case {
	return []Case{{
		Name:    "file 10 KiB",
		Serve:   putFile(10 << 10),
		Fetch:   []string{"--no-config", "file://{path}"},
		Rivals:  []Rival{{"./internal/tool/bench/copyfile", []string{"{path}"}}},
		Starts:  50,
		Targets: []Target{{Measure: wall, Ratio: 3}, {Measure: cpu, Ratio: 3}},
	}}
}

// putFile returns a function that creates a local file of random bytes.
func putFile(size int64) func(peer.TB) Object {
	return func(t peer.TB) Object {
		path := filepath.Join(scratchDir(t, false), "file")
		sum, err := writeRandom(path, size)
		if err != nil {
			t.Fatalf("bench: %v", err)
		}
		return Object{Sum: sum, Words: map[string]string{"path": path}}
	}
}
