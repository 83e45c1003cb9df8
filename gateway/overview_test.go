package gateway

import (
	"context"
	"fmt"
	"iter"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/crawlreport"
	"github.com/anyurl/fetch/warc"
)

// crawl sets the report, the options, the runs and the failures of a mirror.
func crawl(o *Options) {
	a := &o.Archives[0]
	a.Report = []byte(`{"run":2,"result":"complete","seeds":3,"totals":{"visited":12345,"failed":3,"bytes":2048},` +
		`"failures":[{"name":"not-found","urls":2},{"name":"dns <b>","urls":1}],"exclusions":[{"name":"denied","urls":5}]}`)
	a.Options = []byte(`{"version":1,"seeds":["http://secret.example/"],"scope":{"reach":"host","exclude":["a","<b>"]},"limits":{"min_free":5}}`)
	a.Runs = func(context.Context) ([]Run, bool, error) {
		first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		return []Run{
			{Number: 1, Started: first, Ended: first.Add(90 * time.Second), New: 1500, Failed: 500, Bytes: 1 << 20},
			{Number: 2, Started: first, Ended: first.Add(1500 * time.Millisecond), Unchanged: 1000, Excluded: 7, Bytes: 1 << 20},
		}, true, nil
	}
	a.Failures = func(context.Context) iter.Seq2[Failure, error] {
		return func(yield func(Failure, error) bool) {
			for n := range maxListed + 1 {
				if !yield(Failure{URL: fmt.Sprintf("http://h.example/%d<i>", n), Via: "http://via.example/", Reason: "dns: no such host"}, nil) {
					return
				}
			}
		}
	}
}

// TestOverview checks the parts of the overview of a mirror.
func TestOverview(t *testing.T) {
	h := newHandler(t, crawl)
	body := get(h, "GET", root).Body.String()
	for name, want := range map[string]string{
		"number of captures": `<dt>Captures</dt><dd>25</dd>`,
		"first capture":      `<dt>First capture</dt><dd><time datetime="2024-01-01T00:00:00Z">2024-01-01 00:00:00 UTC</time></dd>`,
		"last run":           `<dt>Visited</dt><dd>12,345</dd>`,
		"reason":             `<td>dns &lt;b&gt;</td><td class="number">1</td><td class="bars"><svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="50" height="1"/></svg></td>`,
		"list of failures":   `<a href="` + root + `?failures">`,
		"reason in words":    `<td>not found</td><td class="number">2</td>`,
		"exclusions":         `<td>denied</td><td class="number">5</td>`,
		"runs, newest first": `<td class="number">2</td><td class="date">2026-01-01 00:00:00 UTC</td><td class="number">1.5s</td><td class="number">0</td><td class="number">1,000</td>`,
		"chart of runs": `aria-label="New, unchanged and failed URLs of runs 1 to 2" viewBox="0 0 24 40" preserveAspectRatio="none">` +
			`<rect class="s1" x="0.1" y="10" width="0.8" height="30"/><rect class="s3" x="0.1" y="0" width="0.8" height="10"/>` +
			`<rect class="s2" x="1.1" y="20" width="0.8" height="20"/></svg>`,
		"bytes of runs":    `<figcaption>New bytes of runs 1 to 2: at most 1.0 MiB</figcaption>`,
		"growth over time": `aria-label="Captures of each month from 2024-01-01 to 2026-01-01" viewBox="0 0 25 40"`,
		"sizes":            `<td>less than 1 KiB</td>`,
		"option":           `<dt>scope exclude</dt><dd>a, &lt;b&gt;</dd>`,
		"option of limits": `<dt>limits min free</dt><dd>5 B</dd>`,
		"start URL":        `href="` + root + `*/gopher://g.example/1/"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s: the overview lacks %s", name, want)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
	for _, bad := range []string{"secret.example", "<script", " style="} {
		if strings.Contains(body, bad) {
			t.Errorf("the overview contains %q", bad)
		}
	}
}

// TestOverviewOfFiles checks the overview of an archive without a mirror: the
// start URLs and options come from its warcinfo records.
func TestOverviewOfFiles(t *testing.T) {
	h := newHandler(t, func(o *Options) {
		o.Archives[0].Seeds = nil
		o.Archives[0].Source = openRecords(t, warc.Options{Info: fetch.Header{
			{Name: "seed", Value: "http://seed.example/a"}, {Name: "seed", Value: "javascript:alert(1)"},
			{Name: "operator", Value: "<Someone>"}, {Name: "settings", Value: `{"scope":{"reach":"any"}}`},
		}}, sample{"20240101", "http://a.example/", "", ok("text/html", "x")})
	})
	body := get(h, "GET", root).Body.String()
	for _, want := range []string{
		`href="` + root + `*/http://seed.example/a"`, "<dt>Operator</dt><dd>&lt;Someone&gt;</dd>", "<dt>scope reach</dt><dd>any</dd>",
		"<dt>Captures</dt><dd>1</dd>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the overview lacks %s:\n%s", want, body)
		}
	}
	for _, bad := range []string{"<h2>Growth", "<h2>Runs", "<h2>Last run", `href="javascript`, "?failures"} {
		if strings.Contains(body, bad) {
			t.Errorf("the overview contains %s", bad)
		}
	}
	if w := get(h, "GET", root+"?failures"); w.Code != 404 {
		t.Errorf("failures of an archive without a mirror: %d", w.Code)
	}
}

// TestRunsProblem checks that errors of a mirror's log are reported.
func TestRunsProblem(t *testing.T) {
	for name, c := range map[string]struct {
		complete bool
		err      error
		want     string
	}{
		"damaged":  {false, fetch.Mismatch.Errorf("path"), "The runs cannot be read."},
		"too long": {false, nil, "Its last runs are missing here."},
		"complete": {true, nil, ""},
	} {
		h := newHandler(t, func(o *Options) {
			o.Archives[0].Runs = func(context.Context) ([]Run, bool, error) { return nil, c.complete, c.err }
		})
		body := get(h, "GET", root).Body.String()
		if c.want == "" == strings.Contains(body, "<h2>Runs") || !strings.Contains(body, c.want) {
			t.Errorf("%s: %s", name, body)
		}
	}
}

// TestFailures checks both pages of a list of failures.
func TestFailures(t *testing.T) {
	h := newHandler(t, crawl)
	first := get(h, "GET", root+"?failures").Body.String()
	if strings.Count(first, "dns: no such host") != maxListed || !strings.Contains(first, `<a rel="next" href="`+root+`?failures&amp;skip=200">`) ||
		!strings.Contains(first, "http://h.example/0&lt;i&gt;") {
		t.Errorf("first page: %s", first)
	}
	second := get(h, "GET", root+"?failures&skip=200").Body.String()
	if strings.Count(second, "dns: no such host") != 1 || strings.Contains(second, `rel="next"`) {
		t.Errorf("second page: %s", second)
	}
	for _, bad := range []string{"-1", "x"} {
		if w := get(h, "GET", root+"?failures&skip="+bad); w.Code != 404 {
			t.Errorf("skip=%s: %d", bad, w.Code)
		}
	}
}

// TestSearch searches words in URLs and titles.
func TestSearch(t *testing.T) {
	h := newHandler(t, nil)
	for name, c := range map[string]struct {
		query string
		want  []string // parts of URLs, in any order
	}{
		"word in a URL":            {"words=pixel", []string{"a.example/pixel.gif", "a.example/pixel.gif", "g.example/I/pixel.gif"}},
		"word in a title":          {"words=TWO&prefix=http://a.example/", []string{"a.example/", "a.example/two?q=1"}},
		"words in URL and title":   {"words=a.example+one", []string{"a.example/"}},
		"subject of an article":    {"words=alert(1)", []string{"2@example.org"}},
		"escaped character of URL": {"words=café", []string{"a.example/caf%C3%A9"}},
		"no such word":             {"words=one+nothing", nil},
		"prefix and words":         {"prefix=gopher://g.example&words=about", []string{"g.example/0/about.txt"}},
		"only a prefix":            {"prefix=gopher://g.example/0", []string{"g.example/0/about.txt"}},
	} {
		h := h
		if name == "escaped character of URL" {
			h = newHandler(t, func(o *Options) {
				o.Archives[0].Source = openRecords(t, warc.Options{}, sample{"20240101", "http://a.example/caf%C3%A9", "", ok("text/plain", "x")},
					sample{"20240101", "http://a.example/tea", "", ok("text/plain", "x")})
			})
		}
		body := get(h, "GET", root+"?"+c.query).Body.String()
		var got []string
		for _, m := range regexp.MustCompile(`<td class="url">(?:<a [^>]*>[^<]*</a><br>|<a [^>]*>)[a-z]+:(?://)?([^<]*)`).FindAllStringSubmatch(body, -1) {
			got = append(got, strings.TrimPrefix(m[1], "n.example/"))
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q\n%s", name, got, c.want, body)
		}
	}
}

// TestSearchPages follows the links between pages of results, which list each
// capture once.
func TestSearchPages(t *testing.T) {
	var samples []sample
	for n := range maxFound*2 + 1 {
		samples = append(samples, sample{"20240101", "http://a.example/" + strconv.Itoa(n), "", ok("text/plain", "x")})
	}
	h := newHandler(t, func(o *Options) { o.Archives[0].Source = openRecords(t, warc.Options{}, samples...) })
	for _, query := range []string{"prefix=a.example", "words=example"} {
		seen := map[string]bool{}
		target := root + "?" + query
		for pages := 1; ; pages++ {
			body := get(h, "GET", target).Body.String()
			for _, m := range regexp.MustCompile(`20240101000000/http://a.example/(\d+)"`).FindAllStringSubmatch(body, -1) {
				if seen[m[1]] {
					t.Fatalf("%s: %s is on two pages", query, m[1])
				}
				seen[m[1]] = true
			}
			next := regexp.MustCompile(`rel="next" href="([^"]*)"`).FindStringSubmatch(body)
			if next == nil {
				if pages != 3 || len(seen) != len(samples) {
					t.Errorf("%s: %d pages with %d captures", query, pages, len(seen))
				}
				break
			}
			target = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	for _, from := range []string{"-1", "x", "99999999999999999999"} {
		if w := get(h, "GET", root+"?words=a&from="+from); w.Code != 400 {
			t.Errorf("from=%s: %d", from, w.Code)
		}
	}
	for _, from := range []string{"5", "999999999"} { // within a line, and after the end
		if w := get(h, "GET", root+"?words=a&from="+from); w.Code != 200 {
			t.Errorf("from=%s: %d", from, w.Code)
		}
	}
}

// TestSearchDeadline continues a search whose time limit has passed. Each step
// reads at least one line.
func TestSearchDeadline(t *testing.T) {
	h := newHandler(t, nil)
	c := h.archives[0]
	var got []string
	steps, from := 0, int64(0)
	for {
		found, next, err := c.find(t.Context(), query{words: []string{"pixel"}, from: from}, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range found {
			got = append(got, row.URL)
		}
		if steps++; next == 0 {
			break
		}
		if next <= from {
			t.Fatalf("the search continues at %d after %d", next, from)
		}
		from = next
	}
	if len(got) != 3 || steps < 3 {
		t.Errorf("found %q in %d steps", got, steps)
	}
}

// TestPeriods checks the periods of the chart of the growth.
func TestPeriods(t *testing.T) {
	for name, c := range map[string]struct {
		timestamps, want string
	}{
		"none":          {"", ""},
		"one day":       {"20240101000000 20240101235959", ""},
		"days":          {"20240228000000 20240301000000 20240301120000", "day 1 0 2"},
		"months":        {"20240228000000 20240501000000", "month 1 0 0 1"},
		"years":         {"20200101000000 20251231000000", "year 1 0 0 0 0 1"},
		"decades":       {"19000101000000 19990101000000", "decade 1 0 0 0 0 0 0 0 0 1"},
		"before 1970":   {"19500101000000 19691231230000", "year 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"},
		"all years":     {"00000101000000 99991231000000", "millennium 1 0 0 0 0 0 0 0 0 1"},
		"invalid dates": {"x 2024", ""},
	} {
		s := &statistics{sizes: make([]crawlreport.Row, len(sizeClasses)), days: map[int64]dayCount{}}
		for timestamp := range strings.FieldsSeq(c.timestamps) {
			s.add(warc.Line{Timestamp: timestamp, Length: 10})
		}
		got, counts := s.periods()
		for _, count := range counts {
			got += " " + strconv.FormatInt(count.captures, 10)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestForgedOverview checks that a forged report, forged options and forged failures
// make no large page.
func TestForgedOverview(t *testing.T) {
	nested := strings.Repeat(`{"`+strings.Repeat("k", 500)+`":`, 2000) + "1" + strings.Repeat("}", 2000)
	for name, edit := range map[string]func(a *Archive){
		"deep options": func(a *Archive) { a.Options = []byte(nested) },
		"many options": func(a *Archive) { a.Options = []byte("{" + strings.Repeat(`"a":1,`, 100_000) + `"b":2}`) },
		"long option": func(a *Archive) {
			a.Options = []byte(`{"` + strings.Repeat("a", 1<<20) + `":["` + strings.Repeat("b", 1<<20) + `"]}`)
		},
		"many rows": func(a *Archive) {
			a.Report = []byte(`{"failures":[` + strings.Repeat(`{"urls":1},`, 100_000) + `{"urls":1}]}`)
		},
		"long row": func(a *Archive) {
			a.Report = []byte(`{"failures":[{"name":"` + strings.Repeat("a", 1<<20) + `","urls":1}]}`)
		},
		"long failed URL": func(a *Archive) { a.Failures = failed(strings.Repeat("u", 1<<20)) },
	} {
		h := newHandler(t, func(o *Options) { edit(&o.Archives[0]) })
		for _, target := range []string{root, root + "?failures"} {
			if w := get(h, "GET", target); w.Code == 200 && w.Body.Len() > 200_000 {
				t.Errorf("%s: %d bytes in %s", name, w.Body.Len(), target)
			}
		}
	}
}

// failed returns a list with one failure, whose texts are text.
func failed(text string) func(context.Context) iter.Seq2[Failure, error] {
	return func(context.Context) iter.Seq2[Failure, error] {
		return func(yield func(Failure, error) bool) { yield(Failure{URL: text, Via: text, Reason: text}, nil) }
	}
}

// FuzzOptions checks that any options.json gives facts without control
// characters.
func FuzzOptions(f *testing.F) {
	f.Add([]byte(`{"scope":{"reach":"host","include":["a"]},"x":[{"y":[1]}],"seeds":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, fact := range optionFacts(text) {
			if strings.ContainsFunc(fact.Name+fact.Value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("%q", fact)
			}
		}
	})
}

// FuzzQuery checks that any query of an overview gives a page.
func FuzzQuery(f *testing.F) {
	f.Add("a", "b c", "7")
	f.Add("http://[", "%", "-1")
	h := newHandler(f, nil)
	f.Fuzz(func(t *testing.T, prefix, words, from string) {
		w := get(h, "GET", root+"?"+url.Values{"prefix": {prefix}, "words": {words}, "from": {from}}.Encode())
		if w.Code != 200 && w.Code != 400 && w.Code != 414 || !strings.Contains(w.Body.String(), "</html>") {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
	})
}
