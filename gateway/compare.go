package gateway

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"golang.org/x/net/html/charset"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/baseuri"
	"github.com/anyurl/fetch/internal/base/htmltext"
	"github.com/anyurl/fetch/internal/base/media"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/format/render"
)

// maxCompared is the maximum number of bytes of a capture that are compared.
const maxCompared = 1 << 20

// hasText reports whether captures of a media type can be compared as text.
func hasText(mediaType string) bool {
	switch kind := media.TrimParameters(mediaType); kind {
	case "application/xhtml+xml", "application/json", "application/xml", "message/rfc822", "application/gopher-menu":
		return true
	default:
		return strings.HasPrefix(kind, "text/")
	}
}

// comparePath returns the path of the comparison of two captures of t.url.
func (t target) comparePath(older, newer string) string {
	return t.archive.path + older + "-" + newer + "/" + t.url.Unredacted()
}

// comparePage is the template data of a comparison. Lines is nil if both texts
// are equal.
type comparePage struct {
	page
	URL          string
	Older, Newer render.Link
	Lines        []diffLine
	Truncated    bool // only the starts of the captures were compared
}

// A diffLine is a line of a comparison. Its class is "added", "removed", "same"
// or "gap". A gap represents omitted lines.
type diffLine struct{ Class, Text string }

// compare sends the differences between the texts of two captures.
func (x *exchange) compare(t target, older, newer string) {
	if !x.admitsWork() {
		return
	}
	data := comparePage{page: x.newPage("Changes", t.archive), URL: t.url.String()}
	if x.findChanges(t, &data, older, newer) {
		x.render("compare", data)
	}
}

// findChanges completes data with the differences between two captures. It waits
// until fewer comparisons are running. It returns false if the client has closed the
// request, or after it has sent an error page.
func (x *exchange) findChanges(t target, data *comparePage, older, newer string) bool {
	select {
	case x.compares <- struct{}{}:
		defer func() { <-x.compares }()
	case <-x.r.Context().Done():
		return false
	}
	var texts [2]string
	for i, timestamp := range []string{older, newer} {
		text, chosen, truncated, err := x.captureText(t, timestamp)
		if errors.Is(err, fetch.Unsupported) {
			x.failWith(http.StatusBadRequest, "These captures cannot be compared", err.Error(), t.archive, nil)
			return false
		}
		if err != nil {
			x.missing(t, err)
			return false
		}
		at, _ := parseTimestamp(chosen)
		link := render.Link{Name: render.FormatDate(at), Path: t.archive.pathOf(chosen, formPage, t.url)}
		texts[i], data.Truncated = text, data.Truncated || truncated
		if i == 0 {
			data.Older = link
		} else {
			data.Newer = link
		}
	}
	data.Lines = diffLines(texts[0], texts[1])
	return true
}

// captureText returns the text of the capture that is nearest to a timestamp.
func (x *exchange) captureText(t target, timestamp string) (text, chosen string, truncated bool, err error) {
	t.period, _ = parsePeriod(timestamp)
	s, err := t.archive.choose(x.r.Context(), t.url, t.period)
	if err != nil {
		return "", "", false, err
	}
	if s.chosen == "" {
		return "", "", false, fetch.NotFound.Errorf("the archive has no capture of this URL")
	}
	resp, err := x.open(t, s)
	if err != nil {
		return "", "", false, err
	}
	defer resp.Body.Close()
	if !hasText(resp.Media) {
		return "", "", false, fetch.Unsupported.Errorf("the type of a capture is %s, which is no text", resp.Media)
	}
	body := &io.LimitedReader{R: resp.Body, N: maxCompared}
	decoded, err := charset.NewReader(body, resp.Media)
	if err == io.EOF { // an empty body
		return "", s.chosen, false, nil
	}
	if err != nil {
		return "", "", false, fetch.Protocol.With(err)
	}
	if kind := media.TrimParameters(resp.Media); kind == "text/html" || kind == "application/xhtml+xml" {
		page, err := htmltext.Render(decoded, htmltext.Options{Width: 100, MaxText: maxCompared})
		return page.Body, s.chosen, page.Truncated || body.N == 0, err
	}
	plain, err := io.ReadAll(decoded)
	return string(plain), s.chosen, body.N == 0, err
}

// maxDiffLines is the maximum number of lines that a comparison shows.
const maxDiffLines = 20_000

// diffLines returns the differences between two texts with three unchanged lines
// before and after each difference.
func diffLines(older, newer string) (lines []diffLine) {
	out := diff.Diff("older", endLine(older), "newer", endLine(newer))
	_, hunks, _ := strings.Cut(string(out), "\n@@")
	for i, line := range strings.Split(strings.TrimSuffix(hunks, "\n"), "\n") {
		class := "same"
		switch {
		case len(out) == 0 || len(lines) == maxDiffLines:
			return lines
		case i == 0, strings.HasPrefix(line, "@@"):
			class, line = "gap", ""
		case strings.HasPrefix(line, "+"):
			class = "added"
		case strings.HasPrefix(line, "-"):
			class = "removed"
		}
		line = tty.Escape(strings.TrimRight(line[min(1, len(line)):], "\r"))
		lines = append(lines, diffLine{class, strings.Clone(line)}) // without the memory of all other lines
	}
	return lines
}

// endLine adds the end of the last line of a text, because diff.Diff would mark
// its absence.
func endLine(text string) []byte {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return []byte(text)
}

// goToDate redirects to the capture that is nearest to a date. The forms of the
// calendar send the date and the URL.
func (x *exchange) goToDate(c *collection, values url.Values) {
	at, err := time.Parse(time.DateOnly, values.Get("date"))
	if err != nil || at.Year() < 1000 {
		x.fail(http.StatusBadRequest, "The date is invalid", "A date looks like 2024-12-31.")
		return
	}
	u, err := baseuri.ParseAbsolute(values.Get("url"))
	if err != nil {
		x.fail(http.StatusBadRequest, "The URL is invalid", err.Error())
		return
	}
	x.redirect(c.pathOf(at.Format("20060102"), formPage, u.WithoutFragment()))
}
