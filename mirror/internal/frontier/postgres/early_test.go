package postgres

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/anyurl/fetch/internal/test/faultnet"
)

// TestEarlyReply checks the memory for a reply that arrives before the server has
// read the request. pgx then reads in the background, and needs 8 KiB for each
// read.
func TestEarlyReply(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large replies")
	}
	const mebibyte = 1 << 20
	const maxGrowth = 192 * mebibyte // maxEarly, two copies of the request, and garbage
	s := &hostileServer{}
	s.addr = faultnet.ServeTCP(t, func(conn net.Conn) {
		if s.read(conn, 4) != nil {
			return
		}
		io.WriteString(conn, welcome)
		var first [1]byte
		io.ReadFull(conn, first[:])
		for _, err := io.WriteString(conn, "D\x03\xc0\x00\x00\x00\x01\x03\xbf\x00\x00"); err == nil; {
			_, err = io.WriteString(conn, strings.Repeat("x", mebibyte))
		}
	})
	e := &engine{}
	config, _, err := e.configure("postgres://u@" + s.addr + "/d?search_path=x&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	c := config.ConnConfig
	if err := config.BeforeConnect(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err == nil {
			own := conn.(*socket)
			own.Conn = slowReads{own.Conn}
		}
		return conn, err
	}
	conn, err := pgx.ConnectConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	request := "select '" + strings.Repeat("x", 16*mebibyte) + "'"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	growth := make(chan int64)
	go func() {
		var first, now runtime.MemStats
		runtime.ReadMemStats(&first)
		most := int64(0)
		for ctx.Err() == nil && most < maxGrowth {
			runtime.ReadMemStats(&now)
			most = max(most, int64(now.HeapAlloc)-int64(first.HeapAlloc))
			runtime.Gosched()
		}
		cancel()
		growth <- most
	}()
	_, err = conn.Exec(ctx, request)
	cancel()
	var refused *replyError
	if most := <-growth; !errors.As(err, &refused) || most >= maxGrowth {
		t.Errorf("%d MiB, %v", most/mebibyte, err)
	}
	conn.Close(t.Context())
}

// TestAbandonedReply ends the context of a call during an endless reply. pgx then
// discards what arrives until the connection is closed.
func TestAbandonedReply(t *testing.T) {
	const mebibyte = 1 << 20
	ctx, cancel := context.WithCancel(t.Context())
	s := &hostileServer{}
	sent := make(chan int)
	s.addr = faultnet.ServeTCP(t, func(conn net.Conn) {
		if s.read(conn, 4) != nil {
			return
		}
		if io.WriteString(conn, welcome); s.read(conn, 5) != nil {
			return // the connection that cancels the statement
		}
		n := 0
		for _, err := io.WriteString(conn, "D\x03\xc0\x00\x00\x00\x01\x03\xbf\x00\x00"); err == nil; n++ {
			if n == 8 {
				cancel()
			}
			_, err = io.WriteString(conn, strings.Repeat("x", mebibyte))
		}
		sent <- n
	})
	e := &engine{}
	config, _, err := e.configure("postgres://u@" + s.addr + "/d?search_path=x&sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	if err := config.BeforeConnect(t.Context(), config.ConnConfig); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(ctx, "select 1"); err == nil {
		t.Error("the call succeeded")
	}
	if n := <-sent; n > 64 { // with the buffers of the operating system
		t.Errorf("the client read %d MiB", n)
	}
	<-conn.PgConn().CleanupDone()
}

// slowReads is a connection that returns one byte at a time.
type slowReads struct{ net.Conn }

func (c slowReads) Read(p []byte) (int, error) { return iotest.OneByteReader(c.Conn).Read(p) }
