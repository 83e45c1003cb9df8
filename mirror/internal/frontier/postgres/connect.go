package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Time limits of a connection.
const (
	connectTime = 5 * time.Second // until the login is complete, unless the URL has connect_timeout
	pingTime    = time.Second     // until a connection that was unused for a second responds

	// closeTime is the time limit for the last messages of a connection, and for
	// a request that cancels its statement.
	closeTime = 500 * time.Millisecond

	// lostTime is the time after which the operating system reports a connection
	// as lost if the other machine confirms no bytes.
	lostTime = 20 * time.Second
)

// startParameters are the run-time parameters that are sent with the login. A
// pooler such as PgBouncer rejects other ones there.
var startParameters = []string{"application_name", "options"}

// configure returns the settings of the connections to the database at dsn, and
// the name of the PostgreSQL schema.
func (e *engine) configure(dsn string) (config *pgxpool.Config, schema string, err error) {
	if config, err = pgxpool.ParseConfig(dsn); err != nil {
		return nil, "", fmt.Errorf("frontier: %w", err)
	}
	c := config.ConnConfig
	config.MaxConns, config.PingTimeout = max(config.MaxConns, 4), pingTime
	c.ConnectTimeout = min(cmp.Or(c.ConnectTimeout, connectTime), 20*time.Second)
	requireTLS(&c.Config)
	if schema, err = schemaName(c.RuntimeParams["search_path"]); err != nil {
		return nil, "", err
	}
	settings := maps.Clone(planSettings)
	settings["role"] = "none" // the owner of the database can set another role, whose code could change back to the role of the login
	for name, value := range c.RuntimeParams {
		if !slices.Contains(startParameters, name) {
			settings[name] = value
		}
	}
	maps.DeleteFunc(c.RuntimeParams, func(name, _ string) bool { return !slices.Contains(startParameters, name) })
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "fetch"
	}
	if e.worker.Name != "" { // other processes recognize the connections of this process by the name
		c.RuntimeParams["application_name"] = sessionPrefix + e.session
	}
	settings["idle_in_transaction_session_timeout"] = idleTime
	settings["search_path"] = searchPath(schema)
	c.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		d := &dialer{}
		c.DialFunc, c.BuildFrontend = d.dial, d.newFrontend
		c.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
			conn.CustomData()[replyKey] = d.reply
			d.connected.Store(true)
			return nil
		}
		return nil
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
		defer cancel()
		return applySettings(ctx, conn, settings)
	}
	return config, schema, nil
}

// applySettings sets run-time parameters of a connection. The search_path is not
// set yet, so the statement contains no name without a schema: the owner of the
// database can set a search_path in which text is another type, whose constraints
// would run code.
func applySettings(ctx context.Context, conn *pgx.Conn, settings map[string]string) error {
	names, values := make([]string, 0, len(settings)), make([]string, 0, len(settings))
	for name, value := range settings {
		names, values = append(names, name), append(values, value)
	}
	_, err := conn.Exec(ctx, `select pg_catalog.set_config(s.name, s.value, false)
		from (select pg_catalog.unnest($1::pg_catalog.text[]) as name, pg_catalog.unnest($2::pg_catalog.text[]) as value) s`, names, values)
	return err
}

// responds reports whether the server accepts a new connection and executes a
// statement.
func (e *engine) responds(ctx context.Context) bool {
	config := e.pool.Config()
	c := config.ConnConfig
	ctx, cancel := context.WithTimeout(ctx, c.ConnectTimeout)
	defer cancel()
	if config.BeforeConnect(ctx, c) != nil {
		return false
	}
	conn, err := pgx.ConnectConfig(ctx, c)
	if err != nil {
		return false
	}
	err = conn.Ping(ctx)
	return errors.Join(err, conn.Close(ctx)) == nil
}

// requireTLS removes the attempts to connect without TLS to another machine. Only
// sslmode=disable permits them. With the modes prefer, which is the default, and
// allow, a server could demand the password in plaintext.
func requireTLS(c *pgconn.Config) {
	attempts := append([]*pgconn.FallbackConfig{{Host: c.Host, Port: c.Port, TLSConfig: c.TLSConfig}}, c.Fallbacks...)
	secure := func(a *pgconn.FallbackConfig) bool { return a.TLSConfig != nil }
	if !slices.ContainsFunc(attempts, secure) {
		return // the mode is disable, or all servers are on this machine
	}
	attempts = slices.DeleteFunc(attempts, func(a *pgconn.FallbackConfig) bool { return !secure(a) && !isLocal(a.Host) })
	c.Host, c.Port, c.TLSConfig, c.Fallbacks = attempts[0].Host, attempts[0].Port, attempts[0].TLSConfig, attempts[1:]
}

// isLocal reports whether host is the directory of a Unix socket, localhost or a
// loopback address.
func isLocal(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || err == nil && addr.IsLoopback()
}

// A dialer opens the network connections of one connection to the database: those
// of the login, and later those that cancel a statement.
type dialer struct {
	connected atomic.Bool
	socket    *socket      // of the last attempt of the login
	reply     *replyReader // of the same attempt
}

// newFrontend returns the reader and the writer of messages. They are above TLS,
// because pgx binds a login to the TLS connection only if it sees this connection.
func (d *dialer) newFrontend(r io.Reader, w io.Writer) *pgproto3.Frontend {
	d.reply = &replyReader{Reader: r, Writer: w, socket: d.socket}
	return pgproto3.NewFrontend(d.reply, d.reply)
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n := net.Dialer{
		Control:         limitLoss,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: lostTime / 2, Interval: lostTime / 4, Count: 2},
	}
	s := &socket{}
	if d.connected.Load() {
		s.end = time.Now().Add(closeTime)
		n.Deadline = s.end
	}
	conn, err := n.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if s.Conn = conn; !d.connected.Load() {
		d.socket = s
	}
	return s, s.SetDeadline(time.Time{})
}

// A socket is a network connection whose deadlines are at most closeTime ahead.
// Without this limit, pgx would wait 15 seconds for a server when it closes a
// connection.
type socket struct {
	net.Conn
	end time.Time // latest deadline, or zero

	writing atomic.Bool  // pgx sends a request
	early   atomic.Int64 // memory of the bytes that arrived meanwhile, without those that pgx has processed
	closing atomic.Bool  // pgx closes the connection, and discards what arrives
	late    atomic.Int64 // bytes that arrived meanwhile
}

// While pgx sends a request, it stores everything that arrives, and needs readSize
// bytes for each read.
const (
	readSize = 8 << 10
	maxEarly = 64 << 20
)

// maxLate is the maximum number of bytes that pgx discards when it closes a
// connection.
const maxLate = 1 << 20

func (s *socket) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if s.writing.Load() && s.early.Add(int64(max(n, readSize))) > maxEarly {
		s.Conn.Close() // ends the write
		return 0, errEarly
	}
	if s.closing.Load() && s.late.Add(int64(n)) > maxLate {
		return 0, io.EOF
	}
	return n, err
}

// errEarly is the error of a server that exceeds maxEarly.
var errEarly error = &replyError{"sent too much before it has read a request"}

// processed is called after pgx has processed one read. TLS may have needed several
// reads for the same bytes.
func (s *socket) processed() {
	if s.early.Load() > 0 && s.early.Add(-4*readSize) < 0 {
		s.early.Store(0)
	}
}

func (s *socket) limit(t time.Time) time.Time {
	if latest := time.Now().Add(closeTime); t.After(latest) {
		s.closing.Store(true) // other deadlines are not in the future
		t = latest
	}
	if !s.end.IsZero() && (t.IsZero() || t.After(s.end)) {
		t = s.end
	}
	return t
}

func (s *socket) SetDeadline(t time.Time) error      { return s.Conn.SetDeadline(s.limit(t)) }
func (s *socket) SetWriteDeadline(t time.Time) error { return s.Conn.SetWriteDeadline(s.limit(t)) }
