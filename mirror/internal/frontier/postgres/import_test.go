package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

// defaultColumns lists the columns that Import leaves at their defaults or
// computes, by table.
var defaultColumns = map[string]string{
	"host": "due until owner", "file": "worker incarnation state size sha256", "counter": "worker",
	"worker": "name folder incarnation joined beat session place url_rate byte_rate", "version": "schema layout", "seal": "rows manifest",
	"name":     "fold key", // there is no tree
	"receipt":  "session lane number at",
	"unlogged": "id worker line", // Open has written the lines to the log
}

// exampleItem returns an item of a host.
func exampleItem(host string, n int) frontier.Item {
	u := fmt.Sprintf("http://%s/%d", host, n)
	return frontier.Item{Key: frontier.KeyOf(u), URL: u, Host: host, Depth: n % 4, Priority: n % 3, Meta: []byte{byte(n), 0, 0xff}}
}

// exampleCrawl returns an SQLite database with URLs in all states.
func exampleCrawl(t *testing.T) frontier.Frontier {
	t.Helper()
	ctx := t.Context()
	f, err := sqlite.Open(ctx, "sqlite:"+filepath.Join(t.TempDir(), "fetch.db"))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	t.Cleanup(func() { f.Close() })
	future := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	for run := range 2 {
		_, _, err := f.Begin(ctx, []byte("{}"))
		must(err)
		var items []frontier.Item
		for n := range 300 {
			items = append(items, exampleItem(fmt.Sprint("h", n%7), n+run*100))
		}
		items[5].NotBefore, items[6].Via, items[7].Meta = future, items[5].Key, nil
		_, err = f.Add(ctx, items)
		must(err)
		leases, err := f.Claim(ctx, "w", 5, 20, time.Minute)
		must(err)
		for i, l := range leases {
			var results []frontier.Result
			for j, it := range l.Items {
				r := frontier.Result{Item: it, State: frontier.State(j % 6), Note: "a\x00\xff note", Meta: []byte("new")}
				switch {
				case j == 0:
					r.Retry = future
				case j == 6:
					r.Postpone = true
				case r.State == frontier.Done || r.State == frontier.Kept || r.State == frontier.Gone:
					c := frontier.Capture{
						Key: it.Key, URL: it.URL, Run: int64(run + 1), Time: future, Kind: "document", Media: "text/\xff", Code: 200, Size: int64(j),
						Digest: [32]byte{byte(j)}, Validator: fmt.Sprintf("\"%d\"", j), Modified: future, Path: "p", File: fmt.Sprint("f", i%2),
						Offset: int64(100 * j), Length: 50, ID: fmt.Sprint("urn:", run, i, j), Proof: "sha1:x", Checksum: 1 << 31,
					}
					if j%4 == 1 {
						c.URL, c.Key, c.Validator, c.Path = "news:x", frontier.KeyOf(fmt.Sprint(run, i, j)), "", ""
					}
					r.Capture = &c
					r.Children = []frontier.Item{exampleItem(l.Host, 1000+100*i+j)}
				}
				results = append(results, r)
			}
			must(f.Complete(ctx, l, results, map[string]int64{fmt.Sprint("f", i%2): 10_000}))
			if i > 0 { // one lease remains
				must(f.Release(ctx, l, future))
			}
		}
		if run == 0 {
			must(f.End(ctx))
		}
	}
	must(f.Relocate(ctx, "f1", "f2", 77, nil)) // f1 is retired
	for host, change := range map[string]func(*frontier.HostControl){
		"h1": func(c *frontier.HostControl) { c.Paused = true },
		"h2": func(c *frontier.HostControl) { c.Delay, c.CrawlDelay = time.Second, 2*time.Second },
		"h3": func(c *frontier.HostControl) { c.Excluded = true },
	} {
		_, err := f.Control(ctx, host, change)
		must(err)
	}
	must(f.Evict(ctx))
	return f
}

// contents returns everything that a Frontier shows, as text. The note of the run
// and the paths are missing.
func contents(t *testing.T, f frontier.Frontier) string {
	t.Helper()
	ctx := t.Context()
	var b strings.Builder
	show := func(v any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%+v\n", v)
	}
	stats, err := f.Stats(ctx)
	stats.Note, stats.Time, stats.NextDue, stats.Waiting = nil, time.Time{}, time.Time{}, 0
	show(stats, err)
	for s := frontier.Pending; s <= frontier.Excluded; s++ {
		show(s, nil)
		for it, err := range f.Items(ctx, s) {
			var last frontier.Capture
			if it.LastCapture != nil {
				last = *it.LastCapture
				last.Path = ""
			}
			it.LastCapture, it.Host = nil, ""
			show(it, err)
			show(last, nil)
		}
	}
	for c, err := range f.Captures(ctx) {
		c.Path = ""
		show(c, err)
	}
	ends, err := f.FileEnds(ctx)
	show(ends, err)
	retired, err := f.Retired(ctx)
	show(retired, err)
	controls, err := f.Controls(ctx, nil)
	for _, host := range slices.Sorted(maps.Keys(controls)) {
		show(controls[host], err)
	}
	return b.String()
}

// importCrawl opens the schema at dsn and calls Import.
func importCrawl(ctx context.Context, dsn string, w *frontier.Worker, note []byte, tables []frontier.ExportedTable) error {
	f, err := New(dsn).Join(ctx, &frontier.Worker{})
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Import(ctx, w, note, tables)
}

// TestImport checks that a copy shows the same crawl, that the crawl can
// continue, and that a second crawl is not copied to the schema.
func TestImport(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	ctx, place := t.Context(), s.place(t)
	f := exampleCrawl(t)
	tables, err := sqlite.Export(ctx, f)
	if err != nil {
		t.Fatal(err)
	}
	w := frontier.Worker{Name: "w", Folder: "folder"}
	if err := importCrawl(ctx, place, &w, []byte("note"), tables); err != nil || w.Incarnation != 1 {
		t.Fatal(w.Incarnation, err)
	}
	if err := importCrawl(ctx, place, &w, nil, tables); !errors.Is(err, frontier.ErrOccupied) {
		t.Errorf("second copy: %v", err)
	}
	for folder, want := range map[string]bool{"folder": true, "another": false} {
		if found, err := New(place).Registered(ctx, &frontier.Worker{Name: "w", Folder: folder}); found != want || err != nil {
			t.Errorf("Registered: %t, %v, want %t", found, err, want)
		}
	}
	copied, err := New(place).Join(ctx, &w)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if got, want := contents(t, copied), contents(t, f); got != want {
		for i, line := range strings.Split(want, "\n") {
			if other := strings.Split(got, "\n")[i]; other != line {
				t.Fatalf("line %d of the copy:\n%s\nwant:\n%s", i, other, line)
			}
		}
	}
	stats, err := copied.Stats(ctx)
	if string(stats.Note) != "note" || err != nil {
		t.Errorf("note %q, %v", stats.Note, err)
	}
	continueCrawl(t, copied)
}

// continueCrawl visits all URLs that can be claimed. A visited URL must not be
// claimed again.
func continueCrawl(t *testing.T, f frontier.Frontier) {
	t.Helper()
	ctx := t.Context()
	if _, fresh, err := f.Begin(ctx, nil); fresh || err != nil {
		t.Fatalf("a new run: %t, %v", fresh, err)
	}
	known, unknown := exampleItem("h0", 100), exampleItem("new", 1)
	if n, err := f.Add(ctx, []frontier.Item{known, unknown}); n != 1 || err != nil {
		t.Errorf("added %d URLs: %v", n, err)
	}
	visited := map[frontier.Key]bool{}
	for {
		leases, err := f.Claim(ctx, "w", 3, 50, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(leases) == 0 {
			break
		}
		for _, l := range leases {
			if l.Host == "h1" {
				t.Error("a paused host was claimed")
			}
			var results []frontier.Result
			for _, it := range l.Items {
				if visited[it.Key] {
					t.Errorf("%s was claimed twice", it.URL)
				}
				visited[it.Key] = true
				c := frontier.Capture{Key: it.Key, URL: it.URL, File: "f9", ID: "urn:" + it.URL, Kind: "document"}
				results = append(results, frontier.Result{Item: it, State: frontier.Done, Capture: &c})
			}
			if err := errors.Join(f.Complete(ctx, l, results, map[string]int64{"f9": 1}), f.Release(ctx, l, time.Time{})); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(visited) < 100 {
		t.Errorf("%d URLs were visited", len(visited))
	}
}

// TestImportColumns checks that Import copies each column of the tables. A new
// column must be added to Export or to defaultColumns.
func TestImportColumns(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place := s.place(t)
	f, err := New(place).Join(t.Context(), &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := f.(*engine).pool.Query(t.Context(), `select table_name || ' ' || column_name from information_schema.columns
		where table_schema = current_schema() order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	have, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	tables, err := sqlite.Export(t.Context(), exampleCrawl(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		for _, column := range table.Columns {
			want = append(want, table.Name+" "+column)
		}
		rows := 0
		for row, err := range table.Rows {
			if rows++; err != nil || len(row) != len(table.Columns) {
				t.Fatalf("%s: row with %d of %d columns, %v", table.Name, len(row), len(table.Columns), err)
			}
		}
		if rows == 0 && table.Name != "counter" && table.Name != "host_count" {
			t.Errorf("%s: the example has no rows", table.Name)
		}
	}
	for table, columns := range defaultColumns {
		for _, column := range strings.Fields(columns) {
			want = append(want, table+" "+column)
		}
	}
	if slices.Sort(want); !reflect.DeepEqual(have, want) {
		t.Errorf("columns:\n%q\nwant:\n%q", have, want)
	}
}

// TestImportInterrupted checks that a failed or canceled copy leaves no crawl
// behind.
func TestImportInterrupted(t *testing.T) {
	s := &server{Server: peer.Postgres(t, false)}
	place, f := s.place(t), exampleCrawl(t)
	failure := errors.New("the disk has failed")
	for _, canceled := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		tables, err := sqlite.Export(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		last := &tables[len(tables)-1]
		rows := last.Rows
		last.Rows = func(yield func([]any, error) bool) {
			n := 0
			for row, err := range rows {
				if n++; n == 20 && canceled {
					cancel()
				} else if n == 20 {
					row, err = nil, failure
				}
				if !yield(row, err) {
					return
				}
			}
		}
		if err := importCrawl(ctx, place, &frontier.Worker{Name: "w", Folder: "x"}, nil, tables); err == nil || !canceled && !strings.Contains(err.Error(), failure.Error()) {
			t.Errorf("canceled %t: %v", canceled, err)
		}
		cancel()
	}
	w := frontier.Worker{Name: "w", Folder: "x", Pause: time.Hour}
	tables, err := sqlite.Export(t.Context(), f)
	if err == nil {
		err = importCrawl(t.Context(), place, &w, []byte("{}"), tables)
	}
	if err != nil {
		t.Fatalf("after interruptions: %v", err)
	}
	copied, err := New(place).Join(t.Context(), &w)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if leases, err := copied.Claim(t.Context(), "w", 9, 9, time.Minute); len(leases) != 0 || err != nil {
		t.Errorf("%d hosts were claimed during the pause, %v", len(leases), err)
	}
}
