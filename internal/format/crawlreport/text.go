package crawlreport

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/anyurl/fetch/internal/base/tty"
)

// WriteText writes the report as plain text for people. Control characters in
// names are escaped.
func (r *Report) WriteText(out io.Writer) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Run\t%d\n", r.Run)
	fmt.Fprintf(w, "Started\t%s\n", r.Started.Format(time.RFC3339))
	fmt.Fprintf(w, "Ended\t%s (%s)\n", r.Ended.Format(time.RFC3339), r.Ended.Sub(r.Started).Round(time.Millisecond))
	fmt.Fprintf(w, "Result\t%s\n", tty.Escape(r.Result))
	if r.Continued {
		fmt.Fprintf(w, "Note\tan earlier process started this run and did not finish it; its visits are not counted here\n")
	}
	fmt.Fprintf(w, "Seeds\t%d\n", r.Seeds)
	t := &r.Totals
	for _, total := range []struct {
		name string
		n    int64
	}{
		{"URLs visited", t.Visited}, {"  new", t.New}, {"  unchanged", t.Unchanged}, {"  repaired", t.Repaired},
		{"  gone", t.Gone}, {"  failed", t.Failed}, {"  not reached", t.Unreached}, {"  excluded", t.Excluded},
		{"Retries", t.Retried}, {"URLs not visited", t.Pending}, {"URLs left out by guards", t.LeftOut},
		{"Links with nofollow that were not followed", t.NoFollow},
		{"Bytes of new objects", t.Bytes}, {"Bytes of new and unchanged objects", t.Archived},
	} {
		fmt.Fprintf(w, "%s\t%d\n", total.name, total.n)
	}
	for _, table := range []struct {
		title string
		rows  []Row
	}{
		{"Schemes", r.Schemes}, {"Hosts", r.Hosts}, {"Status codes", r.Statuses}, {"Media types", r.Media},
		{"Year of the last modification", r.Years}, {"Failures", r.Failures}, {"Exclusions", r.Exclusions},
		{"URLs left out by guards", r.Guards},
	} {
		writeTable(w, table.title, table.rows)
	}
	if len(r.SlowestHosts) > 0 {
		fmt.Fprintf(w, "\nSlowest hosts\trequests\tmean seconds\tmaximum\n")
	}
	for _, h := range r.SlowestHosts {
		fmt.Fprintf(w, "  %s\t%d\t%.3f\t%.3f\n", tty.Escape(h.Host), h.Requests, h.Mean, h.Max)
	}
	if len(r.LargestFiles) > 0 {
		fmt.Fprintf(w, "\nLargest files\tbytes\n")
	}
	for _, f := range r.LargestFiles {
		fmt.Fprintf(w, "  %s\t%d\n", tty.Escape(f.URL), f.Bytes)
	}
	w.Flush() // never fails, because b is a buffer
	_, err := out.Write(b.Bytes())
	return err
}

// writeTable writes the rows of a table below its title, unless there are no
// rows.
func writeTable(w io.Writer, title string, rows []Row) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\tURLs\tbytes\n", title)
	for _, row := range rows {
		size := ""
		if row.Bytes > 0 {
			size = "\t" + strconv.FormatInt(row.Bytes, 10)
		}
		fmt.Fprintf(w, "  %s\t%d%s\n", tty.Escape(row.Name), row.URLs, size)
	}
}
