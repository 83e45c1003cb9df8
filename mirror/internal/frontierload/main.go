// Frontierload adds URLs to a frontier, or visits them, without a network. The
// benchmarks run it as a separate process, to measure its memory:
//
//	frontierload add FILE N      # a new database of N URLs
//	frontierload visit FILE N    # claims and completes N of its URLs
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/anyurl/fetch/mirror/internal/frontier"
	"github.com/anyurl/fetch/mirror/internal/frontier/sqlite"
)

const (
	hosts = 1000
	batch = 2048 // URLs in one call of Add
	lease = 256  // URLs in one call of Claim
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "frontierload:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("%d arguments, want add|visit FILE N", len(args))
	}
	n, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	do := visit
	if args[0] == "add" {
		do = add
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(args[1] + suffix); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	ctx := context.Background()
	f, err := sqlite.Open(ctx, args[1])
	if err != nil {
		return err
	}
	defer f.Close()
	if _, _, err := f.Begin(ctx, nil); err != nil {
		return err
	}
	if err := do(ctx, f, n); err != nil {
		return err
	}
	return f.Close()
}

// add adds n URLs.
func add(ctx context.Context, f frontier.Frontier, n int) error {
	items := make([]frontier.Item, 0, batch)
	for i := range n {
		items = append(items, page(i))
		if len(items) < batch && i < n-1 {
			continue
		}
		if _, err := f.Add(ctx, items); err != nil {
			return err
		}
		items = items[:0]
	}
	stats, err := f.Stats(ctx)
	if err == nil && stats.URLs != int64(n) {
		err = fmt.Errorf("the frontier has %d URLs, want %d", stats.URLs, n)
	}
	return err
}

// page returns the nth URL as an item of the frontier.
func page(n int) frontier.Item {
	host := fmt.Sprintf("host%d.example.org", n%hosts)
	text := fmt.Sprintf("https://%s/some/path/of/usual/length/%d.html", host, n)
	return frontier.Item{Key: frontier.KeyOf(text), URL: text, Host: host, Via: frontier.KeyOf(host), Depth: 3, Meta: []byte(`{"from":"page"}`)}
}

// visit claims and completes n URLs, each with a capture.
func visit(ctx context.Context, f frontier.Frontier, n int) error {
	for n > 0 {
		leases, err := f.Claim(ctx, "bench", 1, min(lease, n), time.Hour)
		if err != nil {
			return err
		}
		if len(leases) == 0 {
			return fmt.Errorf("no URL is pending, want %d more", n)
		}
		for _, l := range leases {
			n -= len(l.Items)
			if err := f.Complete(ctx, l, results(l.Items), map[string]int64{"x-00000.warc.gz": 1 << 31}); err != nil {
				return err
			}
			if err := f.Release(ctx, l, time.Time{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// results returns the results of successful visits to items.
func results(items []frontier.Item) []frontier.Result {
	var all []frontier.Result
	for _, item := range items {
		c := &frontier.Capture{
			Key: item.Key, URL: item.URL, Run: 1, Time: time.Unix(1.7e9, 0), Kind: "document", Media: "text/html", Code: 200, Size: 5000,
			Validator: `"65f1c0de-1388"`, Path: "https/" + item.URL[8:], File: "x-00000.warc.gz", Offset: 1 << 30, Length: 2000,
			ID: "urn:uuid:0b6ad1c6-5f5c-4a0d-9d2f-1a2b3c4d5e6f", Proof: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
		}
		copy(c.Digest[:], item.Key[:])
		all = append(all, frontier.Result{Item: item, State: frontier.Done, Capture: c, Names: []frontier.Name{{Fold: c.Path, Key: item.Key}}})
	}
	return all
}
