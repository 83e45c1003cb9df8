package postgres

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// Limits of the messages that a server sends, in bytes unless noted. All messages of
// a reply may be kept in memory, so their limit grows only with the request. pgx
// keeps the descriptions of all statements of a connection. Messages that no
// statement has caused, such as notices, have limits for the connection.
const (
	maxReply       = 64 << 20  // messages of a reply, plus replyPerByte for each byte of its request
	maxLargeReply  = 256 << 20 // the same for a transaction that runs alone
	replyPerByte   = 64
	maxErrorText   = 64 << 10 // an error or a notice
	maxDescription = 16 << 10 // the description of the columns or the parameters of a statement
	maxLogin       = 16 << 10 // a message of the login
	maxLogins      = 20       // messages of the login of a connection; SCRAM needs four
	maxMessage     = 1 << 20  // any other message
	maxUnexpected  = 4 << 20  // notices, notifications and parameters of a connection
	maxUnexpecteds = 10_000   // number of these messages

	// A row with many columns becomes a struct that is larger than the row. Each
	// column above fewColumns counts as columnMemory bytes of the reply.
	fewColumns   = 4
	columnMemory = 48
)

// maxIterations is the maximum number of iterations with which a key is derived from
// the password in a login with SCRAM. pgx allows ten times as many. They take
// seconds in which no context ends the login.
const maxIterations = 1_000_000

// unlimitedReply is a limit of a reply whose rows are not kept in memory.
const unlimitedReply = 1 << 62

// A replyError reports that a server has exceeded a limit. It is no outage.
type replyError struct{ text string }

func (e *replyError) Error() string { return "the server of the database " + e.text }

// A replyReader is the connection to a server below pgx, inside TLS. It reads the
// header of each message and returns an error if the server exceeds a limit.
type replyReader struct {
	io.Reader
	io.Writer
	socket *socket
	limit  atomic.Int64 // limit of the messages of a reply; 0 means maxReply
	sent   atomic.Int64 // bytes written since the last read

	mu          sync.Mutex // held during a Read
	request     int64      // bytes written since the last ReadyForQuery message
	reply       int64      // bytes of the messages since this message, and memory of their columns
	last        byte       // type of the last message
	open        bool       // a result began, and did not end
	header      [5]byte
	headerBytes int    // number of bytes in header
	unread      int64  // bytes of the message that were not read yet
	login       []byte // the bytes of the message that were read, if it belongs to the login
	columns     [2]byte
	columnBytes int // number of bytes in columns, which begin a DataRow
	unexpected  int64
	unexpecteds int
	logins      int // number of messages of the login
	err         error
}

// replyKey is the key of the replyReader in the custom data of a connection.
const replyKey = "reply"

// replyOf returns the replyReader of a connection.
func replyOf(conn *pgx.Conn) *replyReader {
	return conn.PgConn().CustomData()[replyKey].(*replyReader)
}

func (r *replyReader) Write(p []byte) (int, error) {
	r.sent.Add(int64(len(p))) // before the server can respond
	r.socket.writing.Store(true)
	defer r.socket.writing.Store(false)
	n, err := r.Writer.Write(p)
	if err != nil && r.socket.early.Load() > maxEarly {
		err = errEarly
	}
	return n, err
}

func (r *replyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.Reader.Read(p)
	r.socket.processed()
	r.request += r.sent.Swap(0)
	if r.err = r.check(p[:n]); r.err != nil {
		r.socket.Close() // otherwise pgx reads it until closeTime
		return 0, r.err
	}
	return n, err
}

// check reads the headers of the messages in p, which begins where the last call
// ended.
func (r *replyReader) check(p []byte) error {
	for len(p) > 0 {
		if r.unread > 0 {
			n := min(r.unread, int64(len(p)))
			switch r.header[0] {
			case 'R':
				r.login = append(r.login, p[:n]...)
			case 'D':
				if err := r.countColumns(p[:n]); err != nil {
					return err
				}
			}
			if r.unread, p = r.unread-n, p[n:]; r.unread == 0 {
				if err := checkLogin(r.login); err != nil {
					return err
				}
				r.login = nil
			}
			continue
		}
		n := copy(r.header[r.headerBytes:], p)
		r.headerBytes, p = r.headerBytes+n, p[n:]
		if r.headerBytes < len(r.header) {
			return nil
		}
		r.headerBytes, r.columnBytes = 0, 0
		size := int64(int32(binary.BigEndian.Uint32(r.header[1:])))
		if size < 4 {
			return &replyError{fmt.Sprintf("sent a message with the length %d", size)}
		}
		r.unread = size - 4
		if err := r.count(r.header[0], size+1); err != nil {
			return err
		}
	}
	return nil
}

// countColumns reads bytes of a DataRow. It adds the memory of its columns, whose
// number is at the start.
func (r *replyReader) countColumns(p []byte) error {
	n := copy(r.columns[r.columnBytes:], p)
	if r.columnBytes += n; n == 0 || r.columnBytes < len(r.columns) {
		return nil
	}
	return r.add(columnMemory * max(int64(binary.BigEndian.Uint16(r.columns[:]))-fewColumns, 0))
}

// total returns the limit of the messages of a reply.
func (r *replyReader) total() int64 {
	total := max(r.limit.Load(), maxReply)
	if total < unlimitedReply {
		total += replyPerByte * r.request
	}
	return total
}

// add adds n bytes to the reply.
func (r *replyReader) add(n int64) error {
	total := r.total()
	if r.reply += n; r.reply > total {
		return &replyError{fmt.Sprintf("sent a result that needs more than %d bytes", total)}
	}
	return nil
}

// count adds a message with the given type and size.
func (r *replyReader) count(kind byte, size int64) error {
	limit := int64(maxMessage)
	switch kind {
	case 'D': // DataRow, of which pgx reserves the memory before it arrives
		limit = maxReply
	case 'E', 'N': // ErrorResponse, NoticeResponse
		limit = maxErrorText
	case 'R': // messages of the login
		limit = maxLogin
		if r.logins++; r.logins > maxLogins {
			return &replyError{"sent too many messages of the login"}
		}
	case 'T', 't': // RowDescription, ParameterDescription
		limit = maxDescription
	}
	if size > limit {
		return &replyError{fmt.Sprintf("sent a message of %d bytes (limit %d, type %q)", size, limit, kind)}
	}
	if err := r.add(size); err != nil {
		return err
	}
	if kind == 'N' || kind == 'A' || kind == 'S' { // NotificationResponse, ParameterStatus
		r.unexpecteds++
		if r.unexpected += size; r.unexpected > maxUnexpected || r.unexpecteds > maxUnexpecteds {
			return &replyError{"sent too many notices, notifications or parameters"}
		}
		return nil
	}
	return r.order(kind)
}

// order returns an error if a ReadyForQuery message belongs to no request, or if
// it arrives within a result. Such a message would restart the count of the
// reply. pgx would panic after two of them, and no context would end the call.
func (r *replyReader) order(kind byte) error {
	switch kind {
	case 'T', 'D': // after a ParameterDescription, a RowDescription begins no result
		r.open = r.open || kind == 'D' || r.last != 't'
	case 'C', 'I', 'E': // CommandComplete, EmptyQueryResponse, ErrorResponse
		r.open = false
	case 'Z': // ReadyForQuery ends the reply; a message that ends the connection does not
		if r.request == 0 || r.open {
			return &replyError{"ended a reply too early, or twice"}
		}
		r.request, r.reply = 0, 0
	}
	r.last = kind
	return nil
}

// checkLogin returns an error if a message of the login requires too many
// iterations of SCRAM (RFC 5802 section 7). Other messages are not checked.
func checkLogin(message []byte) error {
	const saslContinue = "\x00\x00\x00\x0b"
	text, ok := strings.CutPrefix(string(message), saslContinue)
	if !ok {
		return nil
	}
	_, count, _ := strings.Cut(text, ",i=")
	if n, err := strconv.Atoi(count); err != nil || n > maxIterations {
		return &replyError{fmt.Sprintf("requires an invalid number of iterations for the password (limit %d)", maxIterations)}
	}
	return nil
}
