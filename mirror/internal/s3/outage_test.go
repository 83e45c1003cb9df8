package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/format/store"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/report"
	"github.com/anyurl/fetch/internal/test/storetest"
)

// TestDeadNetworks ends the connection to an S3 server before, in and after each
// response of an operation. The operation succeeds, or it fails with a transient
// error. The same operation then succeeds, and each object exists once with its
// bytes. TestSilentS3 tests networks without an end of the connection, and
// TestCut an upload in parts.
func TestDeadNetworks(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a server")
	}
	server := peer.Versitygw(t, "warcs")
	text := []byte("text")
	operations := []operation{
		{"check", func(ctx context.Context, s *bucket) error { return s.Check(ctx) }},
		{"upload", func(ctx context.Context, s *bucket) error { return putBytes(ctx, s, "object", text) }},
		{"list", func(ctx context.Context, s *bucket) error { return first(s) }},
		{"read", func(ctx context.Context, s *bucket) error {
			return errors.Join(putBytes(ctx, s, "object", text), readBytes(ctx, s, "object", text))
		}},
	}
	figures := report.Start(t, "networks that die")
	figures.Add("protocols", 1)
	for n, o := range operations {
		var intact [][]int
		if !t.Run(o.name, func(t *testing.T) {
			w := faultnet.NewWires(faultnet.CutOff, faultnet.Place{}, nil)
			s := openS3(t, w.Listen(t, server.Addr), fmt.Sprintf("warcs/%d/intact", n))
			if err := o.run(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			intact = w.Lengths()
		}) {
			return
		}
		for i, at := range places(intact) {
			for _, outage := range []faultnet.Outage{faultnet.CutOff, faultnet.Aborted} {
				figures.Add("outages in a phase of a protocol", 1)
				t.Run(fmt.Sprintf("%s/%s, connection %d, response %d, part %d", o.name, outage, at.Conn, at.Turn, at.Part), func(t *testing.T) {
					t.Parallel()
					prefix := fmt.Sprintf("warcs/%d/%d/%d", n, i, outage)
					w := faultnet.NewWires(outage, at, intact)
					s := openS3(t, w.Listen(t, server.Addr), prefix)
					if err := o.run(t.Context(), s); err != nil && !fetch.Retryable(err) {
						t.Errorf("the error is not transient: %v", err)
					}
					if err := o.run(t.Context(), s); err != nil {
						t.Errorf("the next operation: %v", err)
					}
					checkObjects(t, openS3(t, server.Addr, prefix), text)
				})
			}
		}
	}
}

// An operation is a sequence of calls of a store.
type operation struct {
	name string
	run  func(context.Context, *bucket) error
}

// places returns the places before, in and after each response, and before each
// connection.
func places(intact [][]int) (all []faultnet.Place) {
	for c, turns := range intact {
		all = append(all, faultnet.Place{Conn: c + 1})
		for turn := range turns {
			for _, part := range []faultnet.Part{faultnet.Before, faultnet.Within, faultnet.After} {
				all = append(all, faultnet.Place{Conn: c + 1, Turn: turn + 1, Part: part})
			}
		}
	}
	return all
}

func putBytes(ctx context.Context, s *bucket, name string, data []byte) error {
	return s.Put(ctx, name, bytes.NewReader(data), int64(len(data)), sha256.Sum256(data))
}

func readBytes(ctx context.Context, s *bucket, name string, want []byte) error {
	f, err := s.Open(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	got, err := store.Digest(ctx, store.Reader(f))
	if err == nil && got != sha256.Sum256(want) {
		err = errors.New("the bytes differ")
	}
	return err
}

// checkObjects checks that each object in s has the bytes want.
func checkObjects(t *testing.T, s *bucket, want []byte) {
	t.Helper()
	for _, name := range storetest.Names(t, s, "") {
		if err := readBytes(t.Context(), s, name, want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
