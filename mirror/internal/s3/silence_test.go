package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"

	"github.com/anyurl/fetch/internal/format/store"
)

// TestSilentS3 cuts the network in each operation, in each direction, and cancels
// the operation.
func TestSilentS3(t *testing.T) {
	server := peer.Versitygw(t, "warcs")
	data, sum := noise(2*partSize + 1)
	if err := openS3(t, server.Addr, "warcs").Put(t.Context(), "object", bytes.NewReader(data), int64(len(data)), sum); err != nil {
		t.Fatal(err)
	}
	var objects atomic.Int64
	fresh := func() string { return fmt.Sprint("new", objects.Add(1)) } // an upload removes the parts of others with its name
	for _, phase := range []struct {
		name, at string // text of the request at which the network is cut; "" means before the call
		call     func(ctx context.Context, s store.Store) error
	}{
		{"check", "", func(ctx context.Context, s store.Store) error { return s.Check(ctx) }},
		{"check, second request", "uploads", func(ctx context.Context, s store.Store) error { return s.Check(ctx) }},
		{"stat", "", func(ctx context.Context, s store.Store) error { _, err := s.Stat(ctx, "object"); return err }},
		{"list", "", func(ctx context.Context, s store.Store) error {
			for _, err := range s.List(ctx, "") {
				return err
			}
			return nil
		}},
		{"upload", "If-None-Match", func(ctx context.Context, s store.Store) error {
			return s.Put(ctx, fresh(), bytes.NewReader(data[:10]), 10, sha256.Sum256(data[:10]))
		}},
		{"second part", "partNumber=2", func(ctx context.Context, s store.Store) error {
			return s.Put(ctx, fresh(), bytes.NewReader(data), int64(len(data)), sum)
		}},
		{"read", "GET ", func(ctx context.Context, s store.Store) error {
			f, err := s.Open(ctx, "object")
			if err == nil {
				_, err = f.ReadAt(make([]byte, 1000), 0)
			}
			return err
		}},
	} {
		for name, direction := range map[string]faultnet.Direction{
			"requests": faultnet.Requests, "responses": faultnet.Responses, "both": faultnet.Requests | faultnet.Responses,
		} {
			t.Run(phase.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				tunnel := faultnet.NewTunnel(t, server.Addr)
				s := openS3(t, tunnel.Addr, "warcs")
				if phase.at == "" {
					tunnel.Stop(direction)
				} else {
					tunnel.StopAt(phase.at, direction)
				}
				tunnel.CheckCanceled(t, func(ctx context.Context) error { return phase.call(ctx, s) })
			})
		}
	}
}
