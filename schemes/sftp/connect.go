package sftp

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// A login describes how a session authenticates.
type login struct {
	fetch.Credential
	origin     fetch.Origin
	mayUseKeys bool // the keys of the user may be used
}

// newLogin returns the login for a request. If the request contains no user
// name, the login has the name of the local user. For a link from another
// server, the name is "anonymous".
func newLogin(req *fetch.Request, t fetch.Target) *login {
	who := &login{origin: t.Origin(), mayUseKeys: req.Typed()}
	if from := req.From; from != nil {
		source, err := fetch.TargetOf(from.URL, port)
		who.mayUseKeys = err == nil && source.Origin() == who.origin
	}
	if req.Auth != nil {
		who.Credential = *req.Auth
	}
	if who.User != "" {
		return who
	}
	who.User = "anonymous"
	if u, err := user.Current(); err == nil && who.mayUseKeys {
		name := u.Username
		who.User = name[strings.LastIndexByte(name, '\\')+1:] // on Windows, the domain precedes the name
	}
	return who
}

// connect opens an SSH connection, verifies the server and authenticates the
// user.
func (d *driver) connect(ctx context.Context, t fetch.Target, who *login, req *fetch.Request) (*session, error) {
	trust, err := d.options.trust(t, d.env.TLS)
	if err != nil {
		return nil, err
	}
	release, err := d.acquireHandshake(ctx, t.Address())
	if err != nil {
		return nil, err
	}
	defer release()
	conn, err := d.env.Net.DialContext(ctx, "tcp", t.Address())
	if err != nil {
		return nil, err
	}
	fetch.SetIdleTimeout(conn, 0) // the SSH library reads all the time; type timed limits each operation
	s := &session{Conn: sessions.NewConn(conn, req.Trace, "")}
	return sessions.Start(ctx, s, func() error {
		limit := newTimeLimit(s.Abort)
		defer limit.start()()
		a := &authenticator{ctx: ctx, driver: d, login: who, trace: req.Trace, limit: limit}
		defer a.close()
		config := &ssh.ClientConfig{
			User: who.User, HostKeyCallback: trust.verify, HostKeyAlgorithms: trust.algorithms,
			Auth: a.methods(), ClientVersion: "SSH-2.0-fetch",
		}
		raw := d.newBuffered(conn)
		secure, channels, requests, err := ssh.NewClientConn(raw, t.Address(), config)
		if err == nil {
			req.Trace.Connectionf("SSH connection as %s", who.User)
			if err = s.start(ssh.NewClient(secure, channels, requests), raw); err == nil {
				return nil
			}
		}
		switch {
		case limit.expired.Load():
			return fetch.Timeout.Errorf("no SSH handshake within %v", sessions.ReplyTimeout)
		case trust.err != nil:
			return trust.err
		case a.err != nil:
			return a.err
		case a.noPassword:
			return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("no password for %s, and the server accepts none of the keys", who.User))
		case fetch.FaultOf(err) == fetch.Auth, isRejection(err):
			return sessions.NeedLogin(fetch.Auth, fetch.Auth.Errorf("server rejected the login of %s", who.User))
		}
		return sshFault(ctx, err)
	})
}

// maxHandshakes is the number of handshakes with a server at a time. Servers
// close further connections that are not authenticated: dropbear accepts five
// from each client, and OpenSSH ten in all.
const maxHandshakes = 4

// A handshakeQueue lets requests wait for their handshakes with a server.
type handshakeQueue struct {
	slots chan struct{} // has an element for each handshake
	users int           // requests that wait, or whose handshake is in progress
}

// acquireHandshake waits until a handshake with the server at addr may start.
// The caller must call release when the handshake ends.
func (d *driver) acquireHandshake(ctx context.Context, addr string) (release func(), err error) {
	d.queueing.Lock()
	q := d.handshakes[addr]
	if q == nil {
		q = &handshakeQueue{slots: make(chan struct{}, maxHandshakes)}
		if d.handshakes == nil {
			d.handshakes = map[string]*handshakeQueue{}
		}
		d.handshakes[addr] = q
	}
	q.users++
	d.queueing.Unlock()
	leave := func() {
		d.queueing.Lock()
		defer d.queueing.Unlock()
		if q.users--; q.users == 0 { // links can lead to any number of servers
			delete(d.handshakes, addr)
		}
	}
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// A buffered is a connection with a read buffer, because package ssh reads each
// packet in several small parts.
//
// It also limits the small packets of a server. Package ssh keeps the packets of a
// channel until they are read, and needs 64 bytes for a packet of one byte.
type buffered struct {
	net.Conn
	r *bufio.Reader

	// unread is the number of bytes that package ssh has received, less those that
	// correspond to the data that was read from the channel.
	unread atomic.Int64
}

// maxUnread is the maximum of buffered.unread. A server may send 2 MiB of data
// before it is read. A read of n bytes subtracts n*bytesPerData + bytesPerReply,
// which is more than the connection has received for a reply of n bytes.
const (
	maxUnread     = 4 << 20
	bytesPerData  = 4
	bytesPerReply = 64
)

// dataRead is called after n bytes were read from the channel.
func (b *buffered) dataRead(n int) {
	if b.unread.Add(-int64(n*bytesPerData+bytesPerReply)) < 0 {
		b.unread.Store(0)
	}
}

const (
	bufferSize = 256 << 10

	// firstBuffer is the size of the buffer of the first connection. Package ssh
	// allocates 32 KiB for each packet. The garbage collector runs whenever the
	// garbage is as large as the heap. A larger heap thus saves a third of the
	// processor time of a large download. Most of the buffer is never used.
	firstBuffer = 6 << 20
)

func (d *driver) newBuffered(conn net.Conn) *buffered {
	size := bufferSize
	if d.connected.CompareAndSwap(false, true) {
		size = firstBuffer
	}
	return &buffered{Conn: conn, r: bufio.NewReaderSize(conn, size)}
}

func (b *buffered) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.unread.Add(int64(n)) > maxUnread {
		return 0, fetch.Protocol.Errorf("server sent its data in too many small packets")
	}
	return n, err
}

// isRejection reports whether err is the error of package ssh for a login that
// the server rejected. The message 51 rejects keyboard-interactive
// authentication. Package ssh has no types for these errors.
func isRejection(err error) bool {
	text := err.Error()
	return strings.Contains(text, "unable to authenticate") || strings.Contains(text, "unexpected message type 51")
}

// folder returns the folder of the SSH files of the user, or "".
func folder() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".ssh")
}

// existing removes the names of missing files from a list.
func existing(all []string) (found []string) {
	for _, name := range all {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			found = append(found, name)
		}
	}
	return found
}
