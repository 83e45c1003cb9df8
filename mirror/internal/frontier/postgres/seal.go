package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// sealedTables lists the tables that a seal covers, which are all except seal,
// receipt and unlogged. The second value lists the columns by which the rows
// are sorted.
var sealedTables = [...][2]string{
	{"version", "schema"}, {"book", "run"}, {"tally", "slot"}, {"run", "id"}, {"host", "id"}, {"url", "id"},
	{"capture", "id"}, {"file", "id"}, {"name", "fold"}, {"worker", "name"}, {"host_count", "host"},
	{"counter", "worker, name"},
}

// digestRows returns a digest of all rows of the database except the seal and
// receipts.
func digestRows(ctx context.Context, q *pgx.Conn) ([]byte, error) {
	reply := replyOf(q)
	defer reply.limit.Store(reply.limit.Swap(unlimitedReply)) // the rows are not kept in memory
	sum := sha256.New()
	for _, table := range sealedTables {
		fmt.Fprintln(sum, table[0])
		rows, err := q.Query(ctx, "select t::text from "+table[0]+" t order by "+table[1])
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			fmt.Fprintf(sum, "%s\n", rows.RawValues()[0])
		}
		if rows.Close(); rows.Err() != nil {
			return nil, rows.Err()
		}
	}
	return sum.Sum(nil), nil
}

func (e *engine) Seal(ctx context.Context, manifest func() ([]byte, error)) error {
	digest, err := manifest()
	if err != nil {
		return err
	}
	return e.write(ctx, exclusive, func(t *tx) error {
		rows, err := digestRows(t.ctx, t.Conn)
		if err != nil {
			return err
		}
		return t.exec("update seal set rows = $1, manifest = $2", rows, digest)
	})
}

func (e *engine) Unseal(ctx context.Context) error {
	return e.write(ctx, exclusive, func(*tx) error { return nil }) // start removes the digest of the rows
}

func (e *engine) ReadSeal(ctx context.Context) (seal frontier.Seal, err error) {
	return read(ctx, e, func(ctx context.Context, q pgx.Tx) (seal frontier.Seal, err error) {
		err = q.QueryRow(ctx, "select rows is not null, nullif(manifest, '') from seal").Scan(&seal.Rows, &seal.Manifest)
		return seal, err
	})
}

// Check verifies the digest of the rows. PostgreSQL itself verifies the structure
// of its files.
func (e *engine) Check(ctx context.Context) error {
	intact, err := read(ctx, e, func(ctx context.Context, q pgx.Tx) (bool, error) {
		var stored []byte
		if err := q.QueryRow(ctx, "select rows from seal").Scan(&stored); err != nil || len(stored) == 0 {
			return err == nil, err
		}
		rows, err := digestRows(ctx, q.Conn())
		return bytes.Equal(rows, stored), err
	})
	if err == nil && !intact {
		err = fmt.Errorf("%w: the rows do not match their digest", frontier.ErrDamaged)
	}
	return err
}
