package smb

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// Limits of the messages that a server sends. The client requests at most 1 MiB
// of a file or of a directory at a time.
const (
	maxMessage = 1<<20 + 4096 // bytes of a message
	maxLogin   = 16 << 10     // bytes of a message before the end of the login
	maxReplies = 300          // messages for a call of the library
	maxBytes   = 8 << 20      // bytes of these messages
	maxShares  = 2 << 20      // the same for the list of shares, which is kept in memory

	// maxContexts is the maximum number of contexts in the reply to NEGOTIATE.
	// The library hashes the reply once for each of them.
	maxContexts = 16
)

// Numbers of SMB commands ([MS-SMB2] section 2.2.1).
const (
	cmdNegotiate      = 0
	cmdSessionSetup   = 1
	cmdCreate         = 5
	cmdQueryDirectory = 14
)

// headerSize is the size of the header of a message. frameSize is the size of
// the length in front of it.
const (
	headerSize = 64
	frameSize  = 4
)

// A mode determines which messages a guard accepts.
type mode uint8

const (
	idle      mode = iota // none
	loggingIn             // small ones
	calling               // replies to a call of the library
	opening               // the reply to the start of a file, complete
	closing               // the reply to the end of a file
	listing               // replies with complete directory entries
	sharing               // replies to a call that lists the shares
)

// closeTimeout is the time for the reply to the end of a file.
const closeTimeout = 5 * time.Second

// timeout returns the maximum time of a call.
func (m mode) timeout() time.Duration {
	if m == closing {
		return closeTimeout
	}
	return sessions.ReplyTimeout
}

// A guard is the connection below the library. It reads the header of each
// message and returns an error if the server exceeds a limit. The library
// reserves memory for a message before the message arrives, and creates a string
// for each entry of a directory, although entries could overlap. Its goroutine
// reads all the time.
type guard struct {
	net.Conn
	ready []byte // checked bytes that the library has not read yet
	left  int    // bytes of the message after ready, which are not checked

	mu       sync.Mutex
	mode     mode
	messages int // since the start of the call
	bytes    int
	setup    setup
	version  uint16 // of the protocol; 0 before the first reply
	keys     decrypter
	err      error
}

// A setup is the last reply to SESSION_SETUP.
type setup struct {
	status uint32
	flags  uint16
}

// Flags of the reply to SESSION_SETUP (section 2.2.6).
const (
	isGuest = 1
	isNull  = 2
)

// start allows the replies to a call.
func (g *guard) start(m mode) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mode, g.messages, g.bytes = m, 0, 0
}

// stop ends a call. It returns the error of the guard, if any.
func (g *guard) stop() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mode = idle
	return g.err
}

// lastSetup returns the last reply to SESSION_SETUP.
func (g *guard) lastSetup() setup {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.setup
}

// failed reports whether the connection has ended.
func (g *guard) failed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err != nil
}

// Write passes a message, or its length, to the server.
func (g *guard) Write(p []byte) (int, error) {
	g.mu.Lock()
	if g.mode == loggingIn && len(p) > frameSize {
		g.keys.add(p)
	}
	g.mu.Unlock()
	return g.Conn.Write(p)
}

// finish ends the login with the key of the session.
func (g *guard) finish(key []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.keys.setKey(key, g.version)
}

// negotiated returns the version of the protocol, or 0 before the server has
// replied.
func (g *guard) negotiated() uint16 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.version
}

func (g *guard) Read(p []byte) (int, error) {
	if len(g.ready) == 0 && g.left == 0 {
		if err := g.next(); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.err = err
			return 0, err
		}
	}
	if len(g.ready) > 0 {
		n := copy(p, g.ready)
		g.ready = g.ready[n:]
		return n, nil
	}
	n, err := g.Conn.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// next reads the header of the next message, or the complete message if its
// content must be checked.
func (g *guard) next() error {
	var frame [frameSize]byte
	if _, err := io.ReadFull(g.Conn, frame[:]); err != nil {
		return err
	}
	size := int(binary.BigEndian.Uint32(frame[:]) & 0xffffff)
	m, err := g.count(frame[0], size)
	if err != nil {
		return err
	}
	checked := min(size, headerSize)
	if m == loggingIn || m == opening || m == listing {
		checked = size
	}
	g.ready = append(make([]byte, 0, frameSize+checked), frame[:]...)
	g.ready = g.ready[:frameSize+checked]
	g.left = size - checked
	if _, err := io.ReadFull(g.Conn, g.ready[frameSize:]); err != nil {
		g.ready = nil
		return err
	}
	if err := g.check(g.ready[frameSize:], m); err != nil {
		g.ready = nil
		return err
	}
	return nil
}

// count adds a message to the messages of the call.
func (g *guard) count(kind byte, size int) (mode, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	limit, all := maxMessage, maxBytes
	switch g.mode {
	case loggingIn:
		limit = maxLogin
	case sharing:
		all = maxShares
	}
	g.messages++
	g.bytes += size
	switch {
	case g.mode == idle:
		return g.mode, fetch.Protocol.Errorf("the server sent a message without a request")
	case kind != 0:
		return g.mode, fetch.Protocol.Errorf("the server sent a message of the type %#x", kind)
	case size < headerSize || size > limit:
		return g.mode, fetch.Protocol.Errorf("the server sent a message of %d bytes (limit %d)", size, limit)
	case g.messages > maxReplies || g.bytes > all:
		return g.mode, fetch.Protocol.Errorf("the server sent too many messages for a request")
	}
	return g.mode, nil
}

// check checks the header of a message. In the modes loggingIn, opening and
// listing, b is the complete message.
func (g *guard) check(b []byte, m mode) error {
	switch string(b[:4]) {
	case "\xfeSMB":
	case "\xffSMB":
		return fetch.Unsupported.Errorf("the server supports only SMB 1")
	case "\xfdSMB":
		return g.checkEncrypted(b, m)
	default:
		return fetch.Protocol.Errorf("the server sent a message of an unknown protocol")
	}
	if next := binary.LittleEndian.Uint32(b[20:]); next != 0 {
		return fetch.Protocol.Errorf("the server sent several replies in a message, which were not requested")
	}
	status, command := binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint16(b[12:])
	switch {
	case m == loggingIn:
		return g.checkLogin(b, status, command)
	case command == cmdCreate && status == stoppedOnSymlink:
		return statusError(status)
	case m == listing && command == cmdQueryDirectory && status == 0:
		return checkDirectory(b)
	}
	return nil
}

// checkEncrypted checks an encrypted message, if its content must be checked.
func (g *guard) checkEncrypted(b []byte, m mode) error {
	switch m {
	case opening, listing:
		content, err := g.keys.open(b)
		switch {
		case err != nil && m == listing:
			return err
		case err != nil:
			return nil // the library would follow a link, but only on the same share
		}
		if len(content) < headerSize || string(content[:4]) != "\xfeSMB" {
			return fetch.Protocol.Errorf("encrypted message of an unknown protocol")
		}
		return g.check(content, m)
	case loggingIn:
		return fetch.Protocol.Errorf("the server sent an encrypted message before the login")
	}
	return nil
}

// checkLogin checks a message of the login.
func (g *guard) checkLogin(b []byte, status uint32, command uint16) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	body := b[headerSize:]
	switch {
	case command == cmdNegotiate && status == 0:
		if err := checkNegotiate(body); err != nil {
			return err
		}
		g.version = binary.LittleEndian.Uint16(body[4:])
		g.keys.add(b)
	case command == cmdSessionSetup:
		g.setup = setup{status: status}
		if len(body) >= 4 && (status == 0 || status == moreProcessing) {
			g.setup.flags = binary.LittleEndian.Uint16(body[2:])
		}
		if status == moreProcessing {
			g.keys.add(b)
		}
	}
	return nil
}

// Versions of the protocol.
const (
	version202 = 0x0202
	version210 = 0x0210
	version300 = 0x0300
	version302 = 0x0302
	version311 = 0x0311
)

// checkNegotiate checks the reply to NEGOTIATE (section 2.2.4).
func checkNegotiate(body []byte) error {
	if len(body) < 64 {
		return fetch.Protocol.Errorf("short reply to NEGOTIATE")
	}
	switch version := binary.LittleEndian.Uint16(body[4:]); version {
	case version202, version210, version300, version302:
	case version311:
		if n := binary.LittleEndian.Uint16(body[6:]); n > maxContexts {
			return fetch.Protocol.Errorf("reply to NEGOTIATE with %d contexts", n)
		}
	default:
		return fetch.Protocol.Errorf("the server selected the unknown SMB version %#x", version)
	}
	return nil
}

const (
	entrySize    = 104      // bytes of a directory entry before its name
	maxNameBytes = 4 * 1024 // more than in any file system
)

// checkDirectory checks that the entries in a reply to QUERY_DIRECTORY do not
// overlap (section 2.2.34, and [MS-FSCC] section 2.4.17).
func checkDirectory(b []byte) error {
	if len(b) < headerSize+8 {
		return fetch.Protocol.Errorf("short reply to QUERY_DIRECTORY")
	}
	offset, size := uint64(binary.LittleEndian.Uint16(b[headerSize+2:])), uint64(binary.LittleEndian.Uint32(b[headerSize+4:]))
	if offset < headerSize+8 || offset+size > uint64(len(b)) {
		return fetch.Protocol.Errorf("reply to QUERY_DIRECTORY with a wrong length")
	}
	for b = b[offset : offset+size]; ; {
		if len(b) < entrySize {
			return fetch.Protocol.Errorf("short directory entry")
		}
		next, name := uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[60:]))
		if name > maxNameBytes || name%2 != 0 || entrySize+name > uint64(len(b)) {
			return fetch.Protocol.Errorf("directory entry with a name of %d bytes", name)
		}
		if next == 0 {
			return nil
		}
		if next < entrySize+name || next > uint64(len(b)) {
			return fetch.Protocol.Errorf("directory entries overlap")
		}
		b = b[next:]
	}
}
