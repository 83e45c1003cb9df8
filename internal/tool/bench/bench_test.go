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

func TestRevisions(t *testing.T) {
	for _, test := range []struct {
		name  string
		pairs pairs
		want  string
	}{
		{"equal", pairs{[]float64{0.99, 1, 1.01}, []float64{0.98, 1, 1.02}}, same},
		{"slower", pairs{[]float64{1.2, 1.3, 1.4}, []float64{0.98, 1, 1.02}}, slower},
		{"slower, as the noise", pairs{[]float64{1.2, 1.3, 1.4}, []float64{0.5, 1, 1.5}}, same},
		{"the noise was faster only", pairs{[]float64{1.2, 1.3, 1.4}, []float64{0.5, 0.6, 0.7}}, same},
		{"faster", pairs{[]float64{0.7, 0.8, 0.8}, []float64{0.98, 1, 1.02}}, faster},
		{"one pair", pairs{[]float64{2}, []float64{1}}, slower},
	} {
		if got := test.pairs.verdict(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	var b strings.Builder
	rows := []row{{name: "http", kind: cpu, fetch: 0.5, rival: "base", other: 0.4, pairs: &pairs{[]float64{1, 2, 3}, []float64{1, 1, 1}}}}
	if err := printRevisions(&b, rows); err != nil {
		t.Fatal(err)
	}
	const want = `
case  measure  base     fetch    ratio  middle half   noise         result
http  cpu      0.400 s  0.500 s  2.00   1.50 to 2.50  1.00 to 1.00  MORE
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestCompareRevisions(t *testing.T) {
	curl := peer.Need(t, "curl", "curl")
	peer.Need(t, "nginx", "nginx-light")
	c := smallCase()
	c.Fetch = c.Rivals[0].Args
	rows, failed := compare(t, c, options{program: curl, base: curl, runs: 2})
	if failed || len(rows) != int(measures) || len(rows[0].pairs.ratios) != 2 || len(rows[0].pairs.noise) != 2 {
		t.Fatalf("failed %v, rows %+v", failed, rows)
	}
}

func TestSyncs(t *testing.T) {
	peer.Need(t, "strace", "strace")
	peer.Need(t, "nginx", "nginx-light")
	sh := peer.Need(t, "sh", "dash")
	c := smallCase()
	c.Rivals, c.Starts, c.Items = nil, 1, 2
	c.Fetch = []string{"-c", "curl -q -sS -o {dir}/f {url} && sync {dir}/f && sync {dir}"}
	for _, disk := range []bool{false, true} {
		c.Disk = disk
		rows, failed := compare(t, c, options{program: sh, runs: 1})
		if failed || rows[len(rows)-1].kind != syncs || rows[len(rows)-1].fetch != 1 {
			t.Errorf("disk %v: failed %v, rows %+v, want one sync for each of two files", disk, failed, rows)
		}
	}
}

func TestOnDisk(t *testing.T) {
	all := onDisk([]Case{{Name: "a", Fetch: []string{"{url}"}}, {Name: "b", Fetch: []string{"-o", "{dir}/b"}}})
	if len(all) != 3 || all[0].Name != "a" || all[1].Disk || !all[2].Disk || !strings.HasPrefix(all[2].Name, "b, on ") {
		t.Errorf("got %+v", all)
	}
}
