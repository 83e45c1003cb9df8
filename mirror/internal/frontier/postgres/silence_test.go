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

// TestSilentServer cuts the network in each phase of a call, in each direction,
// and cancels the call. The call and Close must return.
func TestSilentServer(t *testing.T) {
	s, ctx := &server{Server: peer.Postgres(t, false)}, t.Context()
	item := func(name string) []frontier.Item {
		u := "http://example.org/" + name
		return []frontier.Item{{Key: frontier.KeyOf(u), URL: u, Host: name}}
	}
	for _, phase := range []struct {
		name, at string // text of the statement at which the network is cut; "" means before the call, and "-" by the call
		opening  bool   // if true, the call is Open
		call     func(ctx context.Context, f *engine, stop func()) error
	}{
		{"dial", "", true, nil},
		{"login", "postgres", true, nil},
		{"settings", "set_config", true, nil},
		{"lock of the tables", "pg_advisory_xact_lock", true, nil},
		{"tables", "create table", true, nil},
		{"registration", "insert into worker", true, nil},
		{"start of a transaction", "", false, func(ctx context.Context, f *engine, _ func()) error { _, err := f.Add(ctx, item("a")); return err }},
		{"middle of a transaction", "-", false, func(ctx context.Context, f *engine, stop func()) error {
			return f.write(ctx, shared, func(t *tx) error {
				stop()
				return t.exec("select 1")
			})
		}},
		{"commit", "-", false, func(ctx context.Context, f *engine, stop func()) error {
			return f.write(ctx, exclusive, func(t *tx) error {
				stop()
				return nil
			})
		}},
		{"claim", "", false, func(ctx context.Context, f *engine, _ func()) error {
			_, err := f.Claim(ctx, "w", 1, 1, time.Minute)
			return err
		}},
		{"exclusive", "", false, func(ctx context.Context, f *engine, _ func()) error { return f.Evict(ctx) }},
		{"read", "", false, func(ctx context.Context, f *engine, _ func()) error { _, err := f.Stats(ctx); return err }},
		{"iteration", "", false, func(ctx context.Context, f *engine, _ func()) error {
			for _, err := range f.RecordsOf(ctx, [32]byte{}) {
				return err
			}
			return nil
		}},
	} {
		for name, direction := range map[string]faultnet.Direction{
			"requests": faultnet.Requests, "responses": faultnet.Responses, "both": faultnet.Requests | faultnet.Responses,
		} {
			t.Run(phase.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				tunnel := faultnet.NewTunnel(t, s.Addr)
				place := fmt.Sprintf("postgres://postgres@%s/postgres?sslmode=disable&search_path=crawl%d", tunnel.Addr, s.schemas.Add(1))
				stop := func() { tunnel.Stop(direction) }
				open := func(ctx context.Context) (frontier.Frontier, error) {
					return New(place).Join(ctx, &frontier.Worker{Name: "w", Folder: "f"})
				}
				var f frontier.Frontier
				if !phase.opening {
					var err error
					if f, err = open(ctx); err != nil {
						t.Fatal(err)
					}
					if _, _, err = f.Begin(ctx, nil); err != nil {
						t.Fatal(err)
					}
				}
				switch phase.at {
				case "":
					stop()
				case "-":
				default:
					tunnel.StopAt(phase.at, direction)
				}
				tunnel.CheckCanceled(t, func(ctx context.Context) error {
					if phase.opening {
						_, err := open(ctx)
						return err
					}
					return errors.Join(phase.call(ctx, f.(*engine), stop), f.Close())
				})
			})
		}
	}
}
