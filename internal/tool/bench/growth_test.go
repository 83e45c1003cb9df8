package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// zerosOf returns a function that creates a file of n zero bytes.
func zerosOf(n int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		path := diskDir(t) + "/file"
		if err := os.WriteFile(path, make([]byte, n), 0o666); err != nil {
			t.Fatalf("%v", err)
		}
		return Object{Sum: sha256.Sum256(make([]byte, n)), Words: map[string]string{"path": path, "items": fmt.Sprint(n)}}
	}
}

// TestGrowth checks that a growth measures each step at both sizes, divides the
// times by the number of items, and verifies the output of the processes.
func TestGrowth(t *testing.T) {
	cat := []string{"{path}"}
	empty := func(int) func(peer.TB) Object {
		return func(peer.TB) Object { return Object{} }
	}
	for _, test := range []struct {
		name  string
		serve func(int) func(peer.TB) Object
		step  step
		rows  int
	}{
		{"the expected bytes", zerosOf, step{program: "cat", args: cat}, 3},
		{"a line for each item", empty, step{program: "seq", args: []string{"7"}, items: 7, lines: true}, 3},
		{"other bytes", zerosOf, step{program: "cat", args: []string{"{path}", "{path}"}}, 0},
		{"a line is missing", empty, step{program: "seq", args: []string{"6"}, items: 7, lines: true}, 0},
		{"lines in place of the expected bytes", zerosOf, step{program: "seq", args: []string{"{items}"}, lines: true}, 0},
		{"exit status", empty, step{program: "false"}, 0},
		{"no program", empty, step{program: "/does/not/exist"}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := growth{item: "byte", items: "bytes", normal: 100, serve: test.serve, steps: []step{test.step}}
			b := &block{ctx: t.Context()}
			var rows []row
			b.run(func() { rows = g.compare(b, options{runs: 1}) })
			if len(rows) != test.rows || b.failed != (test.rows == 0) {
				t.Errorf("rows %+v, failed %v", rows, b.failed)
			}
		})
	}
}

// TestGrowthRows checks that times are those of one item, and that the memory is
// that of the process.
func TestGrowthRows(t *testing.T) {
	normal, large := usage{cpu: 1, memory: 10 << 20, wall: 2}, usage{cpu: 20, memory: 65 << 20, wall: 20}
	for _, test := range []struct {
		scale   int
		items   int
		part    int
		measure measure
		name    string
		fetch   string
		missed  bool
	}{
		{0, 0, 0, cpu, "http, 1,000 files", "20000.00 µs/file", true},
		{0, 0, 0, memory, "http, 1,000 files", "65.0 MiB", true},
		{0, 0, 0, wall, "http, 1,000 files", "20000.00 µs/file", false},
		{0, 10, 0, cpu, "http, 1,000 files", "2000000.00 µs/file", true},
		{0, 0, 5, cpu, "http, 1,000 files", "100000.00 µs/file", true},
		{100, 0, 0, cpu, "http, 10,000 files", "2000.00 µs/file", false},
	} {
		g := growth{item: "file", items: "files", normal: 100, scale: test.scale}
		r := g.rows(step{name: "http", items: test.items, part: test.part}, normal, large)[test.measure]
		if got := r.figure(r.fetch); r.name != test.name || got != test.fetch || r.missed() != test.missed {
			t.Errorf("%+v: %+v, %s, missed %v", test, r, got, r.missed())
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 65536: "65,536", 10_000_000: "10,000,000", 1_002_003: "1,002,003"} {
		if got := count(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
