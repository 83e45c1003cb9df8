package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestDeadNetworks ends the connection to the database before, in and after the
// responses of a short crawl. Each call must succeed, because the engine connects
// again, and the crawl must have the same result as without a failure. In
// particular, a commit whose response was lost is not repeated.
//
// The test fails every 23rd response, and TestSoakDeadNetworks every response.
func TestDeadNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a server")
	}
	deadNetworks(t, 23)
}

func deadNetworks(t *testing.T, stride int) {
	s := &server{Server: peer.Postgres(t, false)}
	var intact [][]int
	if !t.Run("no failure", func(t *testing.T) {
		w := faultnet.NewWires(faultnet.CutOff, faultnet.Place{}, nil)
		crawlOver(t, s, w)
		intact = w.Lengths()
	}) {
		return
	}
	places := 0
	for c, turns := range intact {
		for turn := range len(turns) + 1 {
			for _, part := range []faultnet.Part{faultnet.Before, faultnet.Within, faultnet.After} {
				if places++; places%stride != 0 || turn == 0 && part != faultnet.Before {
					continue
				}
				at := faultnet.Place{Conn: c + 1, Turn: turn, Part: part}
				for _, outage := range []faultnet.Outage{faultnet.CutOff, faultnet.Aborted} {
					t.Run(fmt.Sprintf("%s, connection %d, response %d, part %d", outage, at.Conn, turn, part), func(t *testing.T) {
						t.Parallel()
						crawlOver(t, s, faultnet.NewWires(outage, at, intact))
					})
				}
			}
		}
	}
}

// crawlOver adds, visits and completes URLs over the connections of w, and checks
// the result.
func crawlOver(t *testing.T, s *server, w *faultnet.Wires) {
	place := fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable&search_path=crawl%d", w.Listen(t, s.Addr), s.schemas.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	worker := &frontier.Worker{Name: "w", Folder: "f"}
	f, err := New(place).Join(ctx, worker)
	if err != nil { // the same command is started again
		if f, err = New(place).Join(ctx, worker); err != nil {
			t.Fatalf("Join: %v", err)
		}
	}
	if err := errors.Join(shortCrawl(ctx, f), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// shortCrawl visits ten URLs of two hosts. It returns an error if a call fails, or
// if its result is wrong.
func shortCrawl(ctx context.Context, f frontier.Shared) error {
	run, _, err := f.Begin(ctx, []byte("note"))
	if err != nil || run != 1 {
		return fmt.Errorf("Begin: run %d, %w", run, err)
	}
	var items []frontier.Item
	for n := range 10 {
		u := fmt.Sprintf("http://h%d/%d", n%2, n)
		items = append(items, frontier.Item{Key: frontier.KeyOf(u), URL: u, Host: fmt.Sprintf("h%d", n%2)})
	}
	if n, err := f.Add(ctx, items); err != nil || n != len(items) && n != 0 { // 0 if the response was lost
		return fmt.Errorf("Add: %d, %w", n, err)
	}
	for range 2 {
		leases, err := f.Claim(ctx, "w", 1, 10, time.Minute)
		if err != nil || len(leases) != 1 || len(leases[0].Items) != 5 {
			return fmt.Errorf("Claim: %+v, %w", leases, err)
		}
		var results []frontier.Result
		for _, item := range leases[0].Items {
			results = append(results, frontier.Result{
				Item: item, State: frontier.Done, Counts: frontier.Counts{Files: 1, Bytes: 10}, Line: []byte(item.URL + "\n"),
				Capture: &frontier.Capture{Key: item.Key, URL: item.URL, Run: 1, Kind: "document", Size: 10, Digest: [32]byte{1, byte(len(results))}},
			})
		}
		if err := f.Complete(ctx, leases[0], results, nil); err != nil {
			return fmt.Errorf("Complete: %w", err)
		}
		if err := f.Release(ctx, leases[0], time.Time{}); err != nil {
			return fmt.Errorf("Release: %w", err)
		}
	}
	return checkShortCrawl(ctx, f)
}

// checkShortCrawl checks that the database contains each visit exactly once.
func checkShortCrawl(ctx context.Context, f frontier.Shared) error {
	stats, err := f.Stats(ctx)
	if err != nil || stats.States[frontier.Done] != 10 || stats.States[frontier.Pending] != 0 || stats.Captures != 10 || stats.Bytes != 100 {
		return fmt.Errorf("Stats: %+v, %w", stats, err)
	}
	lines := map[string]int{}
	for line, err := range f.Unlogged(ctx) {
		if err != nil {
			return fmt.Errorf("Unlogged: %w", err)
		}
		if lines[string(line)]++; lines[string(line)] > 1 {
			return fmt.Errorf("Unlogged: %q twice", line)
		}
	}
	if len(lines) != 10 {
		return fmt.Errorf("Unlogged: %d lines", len(lines))
	}
	own, _, err := f.Counts(ctx)
	if err != nil || own != (frontier.Counts{Files: 10, Bytes: 100}) {
		return fmt.Errorf("Counts: %+v, %w", own, err)
	}
	if err := f.End(ctx); err != nil {
		return fmt.Errorf("End: %w", err)
	}
	return nil
}
