package sqlite

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// testItem returns the item of a URL for a Builder.
func testItem(url string) frontier.Item {
	return frontier.Item{Key: frontier.KeyOf(url), URL: url, Host: "h"}
}

// TestBuilder builds a database from logged visits and from records. It checks
// the captures, the states and the totals of the new database.
func TestBuilder(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	capture := func(url string, n int, at int64, id string) *frontier.Capture {
		return &frontier.Capture{
			Key: frontier.KeyOf(url), URL: url, Run: 1, Time: day(n), Size: 10, Digest: [32]byte{byte(n)}, File: "w", Offset: at, ID: id,
		}
	}
	visit := func(url string, s frontier.State, run int64, c *frontier.Capture) LoggedVisit {
		return LoggedVisit{Result: frontier.Result{Item: testItem(url), State: s, Capture: c}, Run: run}
	}
	path := filepath.Join(t.TempDir(), "db")
	b, err := NewBuilder(ctx, path, 1)
	if err != nil {
		t.Fatal(err)
	}
	named := capture("http://h/named", 3, 0, "")
	named.File, named.Path = "", "A"
	same := *named
	same.Key, same.URL, same.Path = frontier.KeyOf("http://h/same"), "http://h/same", "a"
	first, second := visit("http://h/named", frontier.Done, 2, named), visit("http://h/same", frontier.Done, 2, &same)
	first.Names, second.Names = []frontier.Name{{Fold: "a", Key: frontier.KeyOf("http://h/named")}}, []frontier.Name{{Fold: "a", Key: frontier.KeyOf("http://h/same")}}
	err = b.AddVisits(ctx, []LoggedVisit{
		visit("http://h/a", frontier.Pending, 1, nil), visit("http://h/a", frontier.Done, 1, capture("http://h/a", 2, 200, "")), visit("http://h/a", frontier.Gone, 2, nil),
		visit("http://h/lost", frontier.Done, 2, capture("http://h/lost", 2, 900, "")), visit("http://h/p", frontier.Pending, 2, nil), first, second,
	})
	if err != nil {
		t.Fatal(err)
	}
	record := func(url string, n int, at int64, id string) Record {
		return Record{Item: testItem(url), State: frontier.Done, Capture: *capture(url, n, at, id)}
	}
	repeated := record("http://h/b", 9, 400, "repeated")
	repeated.RefersTo = "a2"
	unknown := record("http://h/c", 9, 500, "unknown")
	unknown.RefersTo = "none"
	elsewhere := record("http://h/d", 9, 600, "elsewhere")
	elsewhere.Elsewhere = true
	added, err := b.AddRecords(ctx, []Record{
		record("http://h/a", 1, 100, "a1"), record("http://h/a", 2, 200, "a2"), record("http://h/b", 1, 300, "b1"), repeated, unknown, elsewhere,
	})
	if err != nil || added != 3 {
		t.Fatalf("added %d records, %v", added, err)
	}
	if lost, err := b.DropMissingRecords(ctx); lost != 1 || err != nil {
		t.Errorf("%d lost records, %v", lost, err)
	}
	b.SetEnd("w", 1000)
	if err := b.Finish(ctx, RunRecord{Number: 2, Note: []byte("{}"), Started: day(1)}); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := CheckFile(ctx, path); err != nil {
		t.Fatal(err)
	}
	f, err := Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for c, err := range f.Captures(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c.URL[len("http://h/"):]+" "+c.ID+" "+c.Path)
	}
	if want := []string{"lost  ", "named  A", "same  ", "a a1 ", "a a2 ", "b b1 ", "b repeated "}; !slices.Equal(got, want) {
		t.Errorf("captures %q, want %q", got, want)
	}
	newest, err := f.NewestCaptures(ctx, []frontier.Key{frontier.KeyOf("http://h/a"), frontier.KeyOf("http://h/b")})
	if err != nil || newest[frontier.KeyOf("http://h/a")].ID != "a2" || newest[frontier.KeyOf("http://h/b")].Digest != [32]byte{2} {
		t.Errorf("newest captures %+v, %v", newest, err)
	}
	s, err := f.Stats(ctx)
	if err != nil || s.Run != 2 || !s.Ended.IsZero() || s.URLs != 6 || s.Captures != 7 || s.Bytes != 70 ||
		s.States[frontier.Pending] != 1 || s.States[frontier.Gone] != 1 || s.States[frontier.Done] != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	if layout, err := f.Layout(ctx); layout != 1 || err != nil {
		t.Errorf("layout %d, %v", layout, err)
	}
	if run, fresh, err := f.Begin(ctx, nil); run != 3 || !fresh || err != nil {
		t.Fatal(run, fresh, err)
	}
	leases, err := f.Claim(ctx, "w", 1, 10, time.Minute)
	if err != nil || len(leases) != 1 || len(leases[0].Items) != 1 || leases[0].Items[0].URL != "http://h/p" {
		t.Fatalf("leases %+v, %v", leases, err)
	}
	if n, err := f.Revive(ctx); n != 4 || err != nil {
		t.Errorf("revived %d URLs, %v", n, err)
	}
}
