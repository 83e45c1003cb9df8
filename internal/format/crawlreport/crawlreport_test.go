package crawlreport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// visits returns n visits of different URLs, hosts and media types.
func visits(n int) []Visit {
	all := make([]Visit, n)
	for i := range all {
		all[i] = Visit{
			URL: fmt.Sprintf("http://h%d.example/%d", i%300, i), Scheme: "http", Host: fmt.Sprintf("h%d.example", i%300),
			Outcome: Outcome(i % int(Retried+1)), Code: 200 + i%3, Media: fmt.Sprintf("text/x%d; a=b", i%7), Size: int64(i % 100),
			Modified: time.Date(1990+i%30, 1, 1, 0, 0, 0, 0, time.UTC), Reason: fmt.Sprint("reason ", i%5),
		}
	}
	return all
}

// TestOrder checks that the report does not depend on the order of the visits,
// and that each table contains all URLs.
func TestOrder(t *testing.T) {
	var reports []*Report
	for range 3 {
		all := visits(5000)
		rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var c Collector
		for _, v := range all {
			c.Add(v)
			c.AddResponseTime(v.Host, time.Duration(v.Size)*time.Millisecond)
		}
		reports = append(reports, c.Report())
	}
	for _, r := range reports[1:] {
		if !reflect.DeepEqual(r, reports[0]) {
			t.Errorf("got %+v\nwant %+v", r, reports[0])
		}
	}
	r := reports[0]
	total := &r.Totals
	if sum := total.New + total.Unchanged + total.Repaired + total.Gone + total.Failed + total.Unreached +
		total.Excluded; sum != total.Visited {
		t.Errorf("%d URLs with an outcome, %d visited", sum, total.Visited)
	}
	for name, rows := range map[string][]Row{"schemes": r.Schemes, "hosts": r.Hosts, "statuses": r.Statuses} {
		var urls, size int64
		for _, row := range rows {
			urls += row.URLs
			size += row.Bytes
		}
		if urls != total.Visited || size != total.Archived {
			t.Errorf("%s: %d URLs with %d bytes, want %d with %d", name, urls, size, total.Visited, total.Archived)
		}
	}
	if len(r.Hosts) != maxRows+1 || r.Hosts[maxRows].Name != Others {
		t.Errorf("%d hosts", len(r.Hosts))
	}
	if len(r.LargestFiles) != maxTop || len(r.SlowestHosts) != maxTop {
		t.Errorf("%d files, %d hosts", len(r.LargestFiles), len(r.SlowestHosts))
	}
}

// TestBounds checks that the tables of a crawl with very many hosts, media
// types and reasons use a bounded amount of memory.
func TestBounds(t *testing.T) {
	var c, parts Collector
	long := strings.Repeat("é", 1000)
	for i := range 6000 {
		name := fmt.Sprint(i, long)
		c.Add(Visit{URL: name, Scheme: "s" + name, Host: name, Media: name, Size: 1, Reason: name, Code: i})
		c.Add(Visit{URL: name, Scheme: "s", Host: name, Outcome: Failed, Reason: name})
		c.Add(Visit{URL: name, Scheme: "s", Host: name, Outcome: Excluded, Reason: name})
		c.AddResponseTime(name, 1)
	}
	for i := range 90 { // hosts that are parts of long URLs
		url := fmt.Sprintf("%04d.example/%s", i, strings.Repeat("x", 1<<20))
		parts.Add(Visit{URL: url, Scheme: url[:1], Host: url[:12], Reason: url[:4], Media: url[5:12]})
		parts.AddResponseTime(url[:12], 1)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 32<<20 {
		t.Errorf("%d MiB", m.HeapAlloc>>20)
	}
	runtime.KeepAlive(&parts)
	r := c.Report()
	last := r.Hosts[len(r.Hosts)-1]
	if last.Name != Others || last.URLs < 18_000-3*maxRows {
		t.Errorf("%+v", last)
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil || !json.Valid(b.Bytes()) || b.Len() > 2<<20 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

// TestText checks the text of an empty report and of a report with names that
// contain control characters.
func TestText(t *testing.T) {
	var c Collector
	var b strings.Builder
	if err := c.Report().WriteText(&b); err != nil || !strings.Contains(b.String(), "URLs visited") {
		t.Errorf("%q, %v", &b, err)
	}
	b.Reset()
	c.Add(Visit{URL: "http://h/\x1b[2J", Scheme: "http", Host: "h\tx", Media: "a/\nb", Size: 1, Modified: time.Unix(1<<40, 0)})
	c.Add(Visit{URL: "http://h/", Scheme: "http", Outcome: Excluded, Reason: "media type \"\u202e\" is not wanted"})
	r := c.Report()
	r.Continued = true
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`http://h/\x1b[2J`, `h\x09x`, `\u{202e}`, "did not finish it"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, &b)
		}
	}
}
