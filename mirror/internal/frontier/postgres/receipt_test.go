package postgres

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// TestUncertainCommit interrupts commits. A transaction must be repeated if it was
// not committed, even if the server assigns its number to another transaction
// after a crash. A committed transaction must not be repeated.
func TestUncertainCommit(t *testing.T) {
	s := &server{Server: peer.Postgres(t, true)}
	f, err := New(s.place(t)).Join(t.Context(), &frontier.Worker{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := f.(*engine)
	for _, test := range []struct {
		name      string
		interrupt func(t *testing.T, x *tx) (reused bool)
		calls     int
	}{
		{"lost response", func(t *testing.T, x *tx) bool {
			c := x.Conn.PgConn().Conn().(*socket)
			c.Conn = lostReplies{c.Conn}
			return true
		}, 1},
		{"crash", func(t *testing.T, x *tx) bool {
			s.Restart()
			return slices.Contains(s.numbers(t, 20), x.id.String)
		}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The connection then knows all statements and sends them without a reply.
			if err := e.write(t.Context(), shared, func(x *tx) error { return x.exec("insert into host (name) values ('first')") }); err != nil {
				t.Fatal(err)
			}
			s.hosts(t, e, "first")
			for range 20 { // until the server assigns the number again
				reused, calls := false, 0
				err := e.write(t.Context(), shared, func(x *tx) error {
					var b pgx.Batch
					b.Queue("insert into host (name) values ($1)", t.Name())
					x.queueNumber(&b)
					if err := x.send(&b); err != nil {
						return err
					}
					if calls++; calls == 1 {
						reused = test.interrupt(t, x)
					}
					return nil
				})
				if err != nil || calls != test.calls {
					t.Fatalf("%d calls, error %v; want %d calls", calls, err, test.calls)
				}
				if n := s.hosts(t, e, t.Name()); n != 1 {
					t.Fatalf("%d rows, want 1", n)
				}
				if reused {
					return
				}
			}
			t.Error("the server never assigned the number again")
		})
	}
}

// lostReplies is a connection that loses what the server sends, up to the reply to a
// commit. If the connection ended before this reply, the server might not have read
// the commit.
type lostReplies struct{ net.Conn }

func (c lostReplies) Read(p []byte) (int, error) {
	for all := []byte(nil); !bytes.Contains(all, []byte("COMMIT\x00")); {
		n, err := c.Conn.Read(p)
		if err != nil {
			return 0, err
		}
		all = append(all, p[:n]...)
	}
	return 0, io.EOF
}

// hosts removes the hosts with a name and returns their number.
func (s *server) hosts(t *testing.T, e *engine, name string) int64 {
	t.Helper()
	tag, err := e.pool.Exec(t.Context(), "delete from host where name = $1", name)
	if err != nil {
		t.Fatal(err)
	}
	return tag.RowsAffected()
}

// numbers commits n transactions and returns their numbers in the database.
func (s *server) numbers(t *testing.T, n int) (all []string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), "postgres://postgres@"+s.Addr+"/postgres")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.WithoutCancel(t.Context()))
	for range n {
		var number string
		if err := db.QueryRow(t.Context(), "select pg_current_xact_id()::text").Scan(&number); err != nil {
			t.Fatal(err)
		}
		all = append(all, number)
	}
	return all
}
