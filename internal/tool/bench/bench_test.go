package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// smallCase returns a case that takes little time.
func smallCase() Case {
	all := httpCases()
	c := all[slices.IndexFunc(all, func(c Case) bool { return c.Name == "http 10 KiB" })]
	c.Starts = 2
	return c
}

func compare(t *testing.T, c Case, opts options) ([]row, bool) {
	t.Helper()
	var rows []row
	b := &block{ctx: t.Context()}
	b.run(func() { rows = c.compare(b, opts) })
	return rows, b.failed
}

func TestCompare(t *testing.T) {
	curl := peer.Need(t, "curl", "curl")
	peer.Need(t, "nginx", "nginx-light")
	c := smallCase()
	c.Rivals = c.Rivals[:1]
	rows, failed := compare(t, c, options{program: curl, as: "curl", runs: 2})
	if failed || len(rows) != int(measures) {
		t.Fatalf("failed %v, %d rows, want %d", failed, len(rows), measures)
	}
	for _, r := range rows {
		if r.fetch <= 0 || r.other <= 0 || r.ratio() < 0.01 || r.ratio() > 100 {
			t.Errorf("%+v", r)
		}
	}
}

func TestCompareFails(t *testing.T) {
	curl := peer.Need(t, "curl", "curl")
	peer.Need(t, "nginx", "nginx-light")
	for _, test := range []struct {
		name    string
		program string
		args    []string
		as      string
	}{
		{"no program", "/does/not/exist", []string{"{url}"}, ""},
		{"other bytes", curl, []string{"-q", "-sS", "-r", "0-99", "{url}"}, ""},
		{"an error page", curl, []string{"-q", "-sS", "{url}x"}, ""},
		{"exit status", curl, []string{"-q", "-sSf", "{url}x"}, ""},
		{"unknown rival", curl, []string{"{url}"}, "crul"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallCase()
			c.Fetch = test.args
			if rows, failed := compare(t, c, options{program: test.program, as: test.as, runs: 1}); !failed {
				t.Errorf("rows %+v, want a failure", rows)
			}
		})
	}
}

func TestMissed(t *testing.T) {
	for _, test := range []struct {
		name string
		row  row
		want bool
	}{
		{"no target", row{fetch: 9, rival: "curl", other: 1}, false},
		{"ratio met", row{fetch: 1.1, rival: "curl", other: 1, target: &Target{Ratio: 1.1}}, false},
		{"ratio missed", row{fetch: 1.2, rival: "curl", other: 1, target: &Target{Ratio: 1.1}}, true},
		{"rival missing", row{fetch: 1, rival: "curl", target: &Target{Ratio: 1.1}}, false},
		{"rival missing, limit missed", row{fetch: 6, rival: "curl", target: &Target{Limit: 5, Ratio: 1.1}}, true},
		{"limit met", row{fetch: 5, target: &Target{Limit: 5}}, false},
		{"limit missed", row{fetch: 6, rival: "curl", other: 9, target: &Target{Limit: 5}}, true},
		{"both, one missed", row{fetch: 6, rival: "curl", other: 1, target: &Target{Limit: 9, Ratio: 2}}, true},
	} {
		if got := test.row.missed(); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	got := median([]usage{{3, 30, 1}, {1, 10, 1}, {2, 50, 4}, {9, 20, 2}})
	if want := (usage{2.5, 25, 1.5}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	rows := []row{
		{name: "http", kind: cpu, fetch: 0.5, rival: "curl", other: 0.4, target: &Target{Ratio: 1.1}},
		{name: "http", kind: memory, fetch: 20 << 20, target: &Target{Limit: 32 << 20}},
		{name: "http", kind: wall, fetch: 0.05, rival: "aria2c", target: &Target{Ratio: 1}},
	}
	if err := print(&b, rows, 5<<20); err != nil {
		t.Fatal(err)
	}
	const want = `
case  measure  fetch     rival            ratio  target
http  cpu      0.500 s   curl    0.400 s  1.25   MISSED, at most ratio 1.10
http  memory   20.0 MiB  -                       met, at most 32.0 MiB
http  wall     50.00 ms  aria2c  missing         not compared, at most ratio 1.00
1 of 2 targets are met; not compared: 1.
The smallest measurable memory is 5.0 MiB.
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
