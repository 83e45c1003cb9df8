package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/chart"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/crawlreport"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// maxListed is the maximum number of rows in the lists of an overview.
const maxListed = 200

type overviewPage struct {
	page
	Prefix, Words string    // initial values of the search fields
	Texts         *textForm // form for a search in texts, or nil
	NoTexts       bool      // the texts have no index yet
	About         []render.Fact
	Seeds         []archiveLink
	MoreSeeds     int
	Run           *crawlreport.Report
	Failures      tableOf
	Exclusions    tableOf
	Feed          string // path of the Atom feed
	FailuresPath  string // path of the list of failures, or ""
	Runs          *runsView
	Growth        *growthView
	Tables        []tableOf
	Options       []render.Fact
	Partial       bool
	Limit         int
}

// A tableOf is the template data of a table of counts, which are also drawn as
// bars.
type tableOf struct {
	Title, Column, Count string
	Rows                 []countRow
}

type countRow struct {
	Name  string
	URLs  int64
	Bytes int64
	Bar   template.HTML
}

// newTable returns a table of counts. The longest bar belongs to the largest
// count. Rows after the first maxListed, which only a forged report has, are left
// out.
func newTable(title, column string, rows []crawlreport.Row) tableOf {
	t := tableOf{Title: title, Column: column, Count: "Captures"}
	rows = rows[:min(len(rows), maxListed)]
	limit := int64(0)
	for _, r := range rows {
		limit = max(limit, r.URLs)
	}
	for _, r := range rows {
		if r.URLs > 0 {
			t.Rows = append(t.Rows, countRow{tty.Escape(clipText(r.Name)), r.URLs, r.Bytes, chart.Bar(r.URLs, limit)})
		}
	}
	return t
}

// overview sends the overview page of an archive, or the page that the query
// selects: search results or failures.
func (x *exchange) overview(c *collection) {
	_, query, _ := strings.Cut(x.r.RequestURI, "?")
	values, err := url.ParseQuery(query)
	switch {
	case err != nil:
		x.fail(http.StatusBadRequest, "The query is invalid", err.Error())
		return
	case values.Has("text"):
		if x.admitsWork() {
			x.searchTexts(c, values)
		}
		return
	case strings.TrimSpace(values.Get("prefix")+values.Get("words")) != "":
		if x.admitsWork() {
			x.search(c, values)
		}
		return
	case values.Has("date"):
		x.goToDate(c, values)
		return
	case values.Has("feed"):
		x.feed(c)
		return
	case values.Has("failures"):
		x.failures(c, values)
		return
	}
	data := overviewPage{page: x.newPage(c.Name, c), Limit: maxCounted, Feed: c.path + "?feed", Texts: c.newTextForm(), NoTexts: c.Text != nil && !c.hasTexts()}
	if err := c.describe(x.r.Context(), &data); err != nil {
		x.failWith(http.StatusInternalServerError, "The index cannot be read", problemText(err), c, nil)
		return
	}
	x.render("overview", data)
}

// describe fills in the data of an overview page.
func (c *collection) describe(ctx context.Context, data *overviewPage) error {
	s, err := c.count(ctx)
	if err != nil {
		return err
	}
	info := c.Source.Info()
	data.About = append([]render.Fact{
		{Name: "Captures", Value: render.FormatCount(s.captures)}, {Name: "Stored", Value: render.FormatSize(s.bytes)},
		{Name: "First capture", Value: render.FormatDate(s.first), Machine: s.first.Format(time.RFC3339)},
		{Name: "Last capture", Value: render.FormatDate(s.last), Machine: s.last.Format(time.RFC3339)},
	}, aboutFacts(info)...)
	c.setSeeds(data, info)
	var run crawlreport.Report
	if json.Unmarshal(c.Report, &run) == nil {
		data.Run = &run
		data.Failures, data.Exclusions = newTable("Failures", "Reason", inWords(run.Failures)), newTable("Exclusions", "Reason", inWords(run.Exclusions))
		data.Failures.Count, data.Exclusions.Count = "URLs", "URLs"
	}
	if c.Failures != nil {
		data.FailuresPath = c.path + "?failures"
	}
	if data.Runs, err = c.runs(ctx); err != nil {
		return err
	}
	data.Growth = newGrowth(s)
	data.Tables = []tableOf{
		newTable("Schemes", "Scheme", s.Schemes), newTable("Hosts", "Host", s.Hosts), newTable("Types", "Type", s.Media),
		newTable("Statuses", "Status", s.Statuses), newTable("Sizes", "Stored size", s.sizes),
	}
	data.Options = optionFacts(c.Options)
	if len(data.Options) == 0 {
		data.Options = optionFacts([]byte(info.Get("settings")))
	}
	data.Partial = s.partial
	return nil
}

// setSeeds lists the URLs from which the crawl started. They come from the
// mirror, the warcinfo records, or the marked pages of WACZ files.
func (c *collection) setSeeds(data *overviewPage, info fetch.Header) {
	seeds := c.Seeds
	if len(seeds) == 0 {
		seeds = info.Values("seed")
	}
	if len(seeds) == 0 {
		for e, err := range c.Source.Pages() {
			if err != nil || len(seeds) > maxListed {
				break
			}
			if e.Extra["seed"] == "true" {
				seeds = append(seeds, e.URL.Unredacted())
			}
		}
	}
	if len(seeds) == 0 {
		seeds = info.Values("mainPageUrl")
	}
	for _, seed := range seeds[:min(len(seeds), maxListed)] {
		if u, err := uri.Parse(uri.EscapeNonASCII(seed)); err == nil {
			u = u.WithoutFragment().WithoutUserinfo()
			data.Seeds = append(data.Seeds, archiveLink{tty.Escape(u.String()), c.path + "*/" + u.String()})
		}
	}
	data.MoreSeeds = max(len(seeds)-maxListed, 0)
}

// aboutFacts returns the fields of warcinfo records that describe an archive.
func aboutFacts(info fetch.Header) (facts []render.Fact) {
	for _, f := range info {
		switch strings.ToLower(f.Name) {
		case "seed", "settings", "mainpageurl", "format", "conformsto", "hostname", "ip", "seeds-omitted":
			continue
		}
		if len(facts) == maxFacts {
			break
		}
		name := cmp.Or(infoNames[strings.ToLower(f.Name)], f.Name)
		facts = append(facts, render.Fact{Name: tty.Escape(name), Value: tty.Escape(clipText(f.Value))})
	}
	return facts
}

// infoNames maps the names of warcinfo fields to their labels in the overview.
var infoNames = map[string]string{
	"title": "Title", "description": "Description", "software": "Software", "created": "Created", "operator": "Operator",
	"publisher": "Publisher", "ispartof": "Part of", "robots": "Rules of robots.txt", "http-header-user-agent": "User agent",
}

// maxFacts is the maximum number of fields and options that an overview shows.
const maxFacts = 100

// clipText truncates a text to 500 characters.
func clipText(text string) string { return tty.Clip(text, 500) }

// clipURL truncates a URL that is shown without a link to 8,192 characters.
func clipURL(url string) string { return tty.Clip(url, 8192) }
