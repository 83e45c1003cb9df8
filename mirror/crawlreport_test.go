package mirror_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/mirror"
)

// crawlReport contains the fields of report.json that the tests check.
type crawlReport struct {
	Run       int64
	Result    string
	Continued bool
	Seeds     int
	Totals    map[string]int64

	Schemes, Hosts, Statuses, Media, Years, Failures, Exclusions, Guards []reportRow

	SlowestHosts []struct {
		Host string
		Mean float64 `json:"mean_seconds"`
	} `json:"slowest_hosts"`
	LargestFiles []struct {
		URL   string
		Bytes int64
	} `json:"largest_files"`
}

type reportRow struct {
	Name  string
	URLs  int64
	Bytes int64
}

func reportOf(t *testing.T, dir string) (r crawlReport) {
	t.Helper()
	if err := json.Unmarshal([]byte(content(t, filepath.Join(dir, "report.json"))), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsText returns the rows in the form "name urls/bytes".
func rowsText(rows []reportRow) string {
	var all []string
	for _, r := range rows {
		all = append(all, fmt.Sprintf("%s %d/%d", r.Name, r.URLs, r.Bytes))
	}
	return strings.Join(all, ", ")
}

// reportSite answers for two hosts. The second host is slow.
func reportSite(w *network) {
	w.web("a.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Last-Modified", "Sat, 02 Jan 1999 04:05:06 GMT")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(out, "<a href=big.png><a href=none><a href=secret><a href=http://b.example/x>"+
				"<a href=http://c.example/><a href=/q?1><a href=/q?2><a href=/q?3>")
		case "/big.png":
			out.Header().Set("Content-Type", "image/png")
			out.Write(make([]byte, 5000))
		case "/q":
			fmt.Fprint(out, r.URL.RawQuery)
		case "/robots.txt":
			fmt.Fprint(out, "User-agent: *\nDisallow: /secret\n")
		default:
			http.NotFound(out, r)
		}
	}))
	w.web("b.example", http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Second)
		out.Header().Set("Content-Type", "text/x-\u202ered")
		fmt.Fprint(out, "b")
	}))
}

// TestCrawlReport checks the numbers in report.json, that a second run has its
// own report, and that report.txt contains no control characters.
func TestCrawlReport(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tree bool }{"tree and WARC": {true}, "only WARC": {false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				reportSite(w)
				o := w.options("http://a.example/")
				o.Tree, o.Scope.Reach, o.Limits.Queries = c.tree, mirror.Any, 2
				run(t, o)
				r := reportOf(t, o.Dir)
				want := map[string]int64{"visited": 11, "new": 7, "failed": 1, "unreached": 1, "excluded": 2, "left_out": 1}
				for name, n := range want {
					if r.Totals[name] != n {
						t.Errorf("%s: %d, want %d", name, r.Totals[name], n)
					}
				}
				if r.Run != 1 || r.Result != "complete" || r.Continued || r.Seeds != 1 {
					t.Errorf("%+v", r)
				}
				for _, row := range []struct {
					rows []reportRow
					want string
				}{
					{r.Years, "1999 5/5170, unknown 2/2"}, {r.Schemes, "http 11/5172"}, {r.Guards, "queries 1/0"}, {r.Failures, "dns 1/0, not-found 1/0"},
					{r.Hosts, "a.example 8/5170, b.example 2/2, c.example 1/0"},
					{r.Exclusions, "server-perm 1/0, too many queries for one path 1/0"},
				} {
					if got := rowsText(row.rows); got != row.want {
						t.Errorf("got %s, want %s", got, row.want)
					}
				}
				if len(r.SlowestHosts) == 0 || r.SlowestHosts[0].Host != "b.example" || r.SlowestHosts[0].Mean < 2 {
					t.Errorf("slowest hosts: %+v", r.SlowestHosts)
				}
				if len(r.LargestFiles) == 0 || r.LargestFiles[0].URL != "http://a.example/big.png" {
					t.Errorf("largest files: %+v", r.LargestFiles)
				}
				text := content(t, filepath.Join(o.Dir, "report.txt"))
				if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' }) {
					t.Errorf("control characters in report.txt: %q", text)
				}
				run(t, o)
				if r = reportOf(t, o.Dir); r.Run != 2 || r.Totals["new"] != 0 || r.Totals["unchanged"] != 7 {
					t.Errorf("run 2: %+v", r)
				}
				checkRuns(t, o.Dir)
				checkVerify(t, o.Dir)
			})
		})
	}
}

// checkRuns checks the results of both runs in crawl.jsonl.
func checkRuns(t *testing.T, dir string) {
	t.Helper()
	runs, complete, err := mirror.Open(mirror.Location{Dir: dir}).Runs(t.Context(), 1000)
	if err != nil || !complete || len(runs) != 2 {
		t.Fatalf("runs %+v, %v, %v", runs, complete, err)
	}
	for i, r := range runs {
		if !r.Ended.After(r.Started) {
			t.Errorf("run %d from %v to %v", r.Run, r.Started, r.Ended)
		}
		r.Started, r.Ended = time.Time{}, time.Time{}
		want := mirror.PastRun{Run: 1, New: 7, Failed: 2, Excluded: 2, Bytes: 5172}
		if i == 1 {
			want = mirror.PastRun{Run: 2, Unchanged: 7, Failed: 2, Excluded: 2}
		}
		if r != want {
			t.Errorf("got  %+v\nwant %+v", r, want)
		}
	}
	if runs, complete, err = mirror.Open(mirror.Location{Dir: dir}).Runs(t.Context(), 3); err != nil || complete || len(runs) != 1 {
		t.Errorf("with a limit: %+v, %v, %v", runs, complete, err)
	}
}

// TestReportOfIncompleteRun checks the reports of runs that a limit or a
// cancellation ended, and of the process that completes such a run.
func TestReportOfIncompleteRun(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*mirror.Options, func()){
		"limit":       func(o *mirror.Options, _ func()) { o.Limits.Files = 2 },
		"interrupted": func(o *mirror.Options, cancel func()) { o.Event = func(mirror.Event) { cancel() } },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				reportSite(w)
				o := w.options("http://a.example/")
				stopped := o
				ctx, cancel := context.WithCancel(t.Context())
				stop(&stopped, cancel)
				if _, err := mirror.Run(ctx, stopped); err == nil {
					t.Fatal("the run is complete")
				}
				if r := reportOf(t, o.Dir); r.Result != name || r.Continued || r.Totals["pending"] == 0 {
					t.Errorf("%+v", r)
				}
				run(t, o)
				if r := reportOf(t, o.Dir); r.Run != 1 || r.Result != "complete" || !r.Continued || r.Totals["pending"] != 0 {
					t.Errorf("continued run: %+v", r)
				}
				if text := content(t, filepath.Join(o.Dir, "report.txt")); !strings.Contains(text, "did not finish it") {
					t.Error(text)
				}
			})
		})
	}
}
