package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/crawlreport"
	"github.com/anyurl/fetch/internal/render"
	"github.com/anyurl/fetch/internal/tty"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const (
	maxFound   = 200       // captures that a search shows
	maxCounted = 1_000_000 // captures that the tables of an overview contain
)

type overviewPage struct {
	page
	Prefix   string
	Searched bool
	Found    []captureRow
	More     bool
	Seeds    []archiveLink
	Run      *crawlreport.Report
	Tables   []tableOf
	Partial  bool
	Limit    int
}

type captureRow struct{ Date, URL, Path, Media, Status, Size, Digest string }

type tableOf struct {
	Title, Column string
	Rows          []crawlreport.Row
}

// overview sends the overview page of an archive, with the results of a search
// if the query has a URL prefix.
func (x *exchange) overview(c *collection) {
	_, query, _ := strings.Cut(x.r.RequestURI, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		x.fail(http.StatusBadRequest, "The query is invalid", err.Error())
		return
	}
	data := overviewPage{page: x.newPage(c.Name, c), Prefix: strings.TrimSpace(values.Get("prefix")), Limit: maxCounted}
	if data.Prefix != "" {
		data.Searched = true
		data.Found, data.More, err = c.search(x.r.Context(), data.Prefix)
		data.Prefix = tty.Escape(data.Prefix)
	} else {
		err = c.describe(x.r.Context(), &data)
	}
	if err != nil {
		x.failWith(http.StatusInternalServerError, "The index cannot be read", problemText(err), c, nil)
		return
	}
	x.render("overview", data)
}

// search returns the captures of URLs that begin with prefix. Without a scheme,
// a prefix with a dot is the start of an http URL.
func (c *collection) search(ctx context.Context, prefix string) (found []captureRow, more bool, err error) {
	if !strings.Contains(prefix, ":") && strings.Contains(prefix, ".") {
		prefix = "http://" + prefix
	}
	for l, err := range c.Source.Search(uri.EscapeNonASCII(prefix), 0) {
		if err == nil {
			err = ctx.Err()
		}
		switch {
		case err != nil:
			return nil, false, err
		case len(found) == maxFound:
			return found, true, nil
		}
		found = append(found, c.row(l))
	}
	return found, false, nil
}

// row returns the table row of an index line.
func (c *collection) row(l warc.Line) captureRow {
	at, _ := parseTimestamp(l.Timestamp)
	r := captureRow{
		Date: render.FormatDate(at), URL: tty.Escape(l.URL), Media: tty.Escape(l.Media), Status: tty.Escape(l.Status),
	}
	if u, err := uri.Parse(l.URL); err == nil && !at.IsZero() {
		r.Path = c.pathOf(l.Timestamp, formPage, u)
	}
	return r
}

// describe sets the seeds, the last run and the tables of an overview.
func (c *collection) describe(ctx context.Context, data *overviewPage) error {
	for _, seed := range c.Seeds[:min(len(c.Seeds), maxFound)] {
		if u, err := uri.Parse(seed); err == nil {
			u = u.WithoutFragment().WithoutUserinfo()
			data.Seeds = append(data.Seeds, archiveLink{u.String(), c.path + "*/" + u.String()})
		}
	}
	var run crawlreport.Report
	if json.Unmarshal(c.Report, &run) == nil {
		data.Run = &run
	}
	report, partial, err := c.count(ctx)
	if err != nil {
		return err
	}
	data.Partial = partial
	data.Tables = []tableOf{
		{"Schemes", "Scheme", report.Schemes}, {"Hosts", "Host", report.Hosts},
		{"Types", "Type", report.Media}, {"Statuses", "Status", report.Statuses},
	}
	return nil
}

// count returns statistics of the index. The first call reads at most maxCounted
// lines, and later calls return the same result. Concurrent calls wait, so that
// only one of them reads the index.
func (c *collection) count(ctx context.Context) (report *crawlreport.Report, partial bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.statistics != nil {
		return c.statistics, c.partial, nil
	}
	var statistics crawlreport.Collector
	n := 0
	for l, err := range c.Source.Search("", 0) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, false, err
		}
		if n++; n > maxCounted {
			partial = true
			break
		}
		v := crawlreport.Visit{URL: l.URL, Media: l.Media, Size: l.Length}
		if u, err := uri.Parse(l.URL); err == nil {
			v.Scheme, v.Host = u.Scheme(), u.Host()
		}
		v.Code, _ = strconv.Atoi(l.Status)
		statistics.Add(v)
	}
	c.statistics, c.partial = statistics.Report(), partial
	return c.statistics, partial, nil
}

// captures sends the list of all captures of a URL.
func (x *exchange) captures(t target) {
	data := struct {
		page
		URL string
	}{x.newPage("Captures", t.archive), t.url.String()}
	rows, problem := 0, ""
	for e, err := range t.archive.Source.Captures(x.r.Context(), t.url) {
		if rows == 0 {
			if err != nil {
				x.missing(t, err)
				return
			}
			if !x.render("captures", data) || x.r.Method == http.MethodHead {
				return
			}
		}
		if err != nil {
			problem = "The list is incomplete. " + problemText(err)
			break
		}
		rows++
		if !x.render("capturerow", entryCapture(t, e)) {
			return
		}
	}
	if rows == 0 {
		x.missing(t, nil)
		return
	}
	x.render("endtable", problem)
}

// entryCapture returns the table row of a capture.
func entryCapture(t target, e fetch.Entry) captureRow {
	return captureRow{
		Date: render.FormatDate(e.Time), Path: t.archive.pathOf(e.Time.UTC().Format(timeForm), formPage, t.url),
		Media: tty.Escape(e.Media), Status: tty.Escape(e.Extra["status"]), Size: render.FormatSize(e.Size),
		Digest: tty.Escape(e.Extra["digest"]),
	}
}
