package gateway

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/anyurl/fetch/gateway/internal/chart"
	"github.com/anyurl/fetch/internal/base/tty"
)

// A Run contains the results of a run of a mirror. The numbers count URLs unless a
// comment states another unit.
type Run struct {
	Number    int64
	Started   time.Time
	Ended     time.Time
	New       int64
	Unchanged int64
	Gone      int64
	Failed    int64
	Excluded  int64
	Bytes     int64 // size of the new objects, in bytes
}

// A Failure is a URL that a mirror could not retrieve.
type Failure struct {
	URL    string
	Via    string // URL of the page with the link, or ""
	Reason string
}

// runsView is the template data for the runs of a mirror: two charts and a
// table.
type runsView struct {
	Problem string
	Columns template.HTML // chart of the new, unchanged and failed URLs of each run
	Sizes   template.HTML // chart of the new bytes of each run
	First   int64         // number of the first run in the charts
	Last    int64
	Bytes   int64    // largest number of new bytes in a run
	Rows    []runRow // beginning with the newest run
	Earlier int      // number of older runs that are not in Rows
}

type runRow struct {
	Run
	Duration time.Duration
}

// maxRunRows is the maximum number of runs in the table of an overview.
const maxRunRows = 50

// runs returns the data about the runs of a mirror, or nil if the archive has
// no runs. The first call reads the runs, and later calls return the same
// result.
func (c *collection) runs(ctx context.Context) (*runsView, error) {
	if c.Runs == nil {
		return nil, nil
	}
	return c.runsView.get(ctx, c.readRuns)
}

func (c *collection) readRuns(ctx context.Context) (*runsView, error) {
	all, complete, err := c.Runs(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	v := newRunsView(all)
	switch {
	case err != nil:
		v.Problem = "The runs cannot be read. " + problemText(err)
	case !complete:
		v.Problem = "The log of the mirror is too long. Its last runs are missing here."
	}
	return v, nil
}

func newRunsView(all []Run) *runsView {
	v := &runsView{}
	shown := all[max(len(all)-maxColumns, 0):]
	if len(shown) > 0 {
		v.First, v.Last = shown[0].Number, shown[len(shown)-1].Number
	}
	var columns, sizes [][]int64
	for _, r := range shown {
		v.Bytes = max(v.Bytes, r.Bytes)
		columns = append(columns, []int64{r.New, r.Unchanged, r.Failed})
		sizes = append(sizes, []int64{r.Bytes})
	}
	if len(shown) > 1 {
		v.Columns = chart.Columns(fmt.Sprintf("New, unchanged and failed URLs of runs %d to %d", v.First, v.Last), columns)
		v.Sizes = chart.Columns(fmt.Sprintf("New bytes of runs %d to %d", v.First, v.Last), sizes)
	}
	for _, r := range slices.Backward(all[max(len(all)-maxRunRows, 0):]) {
		d := max(r.Ended.Sub(r.Started), 0)
		if d >= time.Minute {
			d = d.Round(time.Second)
		}
		v.Rows = append(v.Rows, runRow{r, d.Round(10 * time.Millisecond)})
	}
	v.Earlier = len(all) - len(v.Rows)
	return v
}

// growthView is the template data for the growth of an archive over time.
type growthView struct {
	Period      string // such as "month"
	First, Last string // dates of the first and the last capture
	Most        int64  // largest number of captures in one period
	Bytes       int64  // bytes of all captures
	Columns     template.HTML
	Area        template.HTML
}

// minArea is the minimum number of values of an area chart. With fewer values, an
// area looks like a slab.
const minArea = 8

// newGrowth returns the data about the growth over time, or nil if all captures
// have the same date.
func newGrowth(s *statistics) *growthView {
	name, counts := s.periods()
	if len(counts) == 0 {
		return nil
	}
	v := &growthView{Period: name, First: s.first.Format("2006-01-02"), Last: s.last.Format("2006-01-02")}
	var columns [][]int64
	var sums []int64
	for _, c := range counts {
		v.Most = max(v.Most, c.captures)
		v.Bytes += c.bytes
		columns, sums = append(columns, []int64{c.captures}), append(sums, v.Bytes)
	}
	v.Columns = chart.Columns("Captures of each "+name+" from "+v.First+" to "+v.Last, columns)
	label := "Bytes of all captures from " + v.First + " to " + v.Last
	if len(sums) < minArea {
		for i, sum := range sums {
			columns[i] = []int64{sum}
		}
		v.Area = chart.Columns(label, columns)
		return v
	}
	v.Area = chart.Area(label, sums)
	return v
}

type failuresPage struct {
	page
	Rows    []failureRow
	Next    string
	Problem string
}

type failureRow struct{ URL, Via, Reason string }

// failures sends one page of the list of failed URLs.
func (x *exchange) failures(c *collection, values url.Values) {
	skip, err := strconv.Atoi(values.Get("skip"))
	if c.Failures == nil || values.Get("skip") != "" && (err != nil || skip < 0) {
		x.notFound()
		return
	}
	data := failuresPage{page: x.newPage("Failures", c)}
	n := 0
	for f, err := range c.Failures(x.r.Context()) {
		if err != nil {
			data.Problem = "The list is incomplete. " + problemText(err)
			break
		}
		if n++; n <= skip {
			continue
		}
		if len(data.Rows) == maxListed {
			data.Next = c.path + "?failures&skip=" + strconv.Itoa(skip+maxListed)
			break
		}
		data.Rows = append(data.Rows, failureRow{
			URL: tty.Escape(clipURL(f.URL)), Via: tty.Escape(clipURL(f.Via)), Reason: tty.Escape(clipText(f.Reason)),
		})
	}
	if data.Problem != "" {
		x.w.WriteHeader(http.StatusInternalServerError)
	}
	x.render("failures", data)
}
