package smb

import (
	"bytes"
	"context"
	"encoding/asn1"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/schemetest"
)

// A fake is an SMB server for anonymous users. All shares and paths exist. The
// function change alters each reply before it is sent, and may be nil.
type fake struct {
	version uint16
	file    []byte   // content of all files
	batches [][]byte // entries in the replies to QUERY_DIRECTORY
	change  func(*reply)
	read    int  // next element of batches
	folder  bool // the open file is a directory
}

// A reply is a reply of a fake.
type reply struct {
	command uint16
	number  int // of replies to the command before
	status  uint32
	id      uint64
	credits uint16
	next    uint32
	body    []byte
	raw     []byte        // sent instead of the reply, if not nil
	silent  bool          // nothing is sent
	ends    bool          // the server then closes the connection
	repeat  int           // the reply is sent more often
	pause   time.Duration // before each repetition
}

const (
	cmdTreeConnect = 3
	cmdClose       = 6
	cmdRead        = 8
	cmdQueryInfo   = 16

	isFolder = 0x10
	isPoint  = 0x400 // a reparse point
)

// newFake returns a server with a file.
func newFake(change func(*reply)) *fake {
	return &fake{version: version210, file: []byte("0123456789"), change: change, batches: [][]byte{
		entriesOf(dirEntry(".", 0, isFolder), dirEntry("..", 0, isFolder), dirEntry("a", 1, 0)), entriesOf(dirEntry("b", 0, isFolder))}}
}

// serve answers requests until the connection ends.
func (f *fake) serve(conn io.ReadWriter) {
	counts := map[uint16]int{}
	for {
		frame := make([]byte, frameSize)
		if _, err := io.ReadFull(conn, frame); err != nil {
			return
		}
		request := make([]byte, binary.BigEndian.Uint32(frame))
		if _, err := io.ReadFull(conn, request); err != nil {
			return
		}
		command := binary.LittleEndian.Uint16(request[12:])
		r := &reply{command: command, number: counts[command], id: binary.LittleEndian.Uint64(request[24:]), credits: 10, repeat: 1}
		counts[command]++
		f.answer(r, request[headerSize:])
		if f.change != nil {
			f.change(r)
		}
		for i := range r.repeat {
			if i > 0 {
				time.Sleep(r.pause)
			}
			if !r.silent {
				if _, err := conn.Write(r.bytes()); err != nil {
					return
				}
			}
		}
		if r.ends {
			return
		}
	}
}

// bytes returns the message with its length.
func (r *reply) bytes() []byte {
	b := r.raw
	if b == nil {
		le := binary.LittleEndian
		b = append([]byte("\xfeSMB"), make([]byte, headerSize-4)...)
		le.PutUint16(b[4:], headerSize)
		le.PutUint32(b[8:], r.status)
		le.PutUint16(b[12:], r.command)
		le.PutUint16(b[14:], r.credits)
		le.PutUint32(b[16:], 1) // from the server
		le.PutUint32(b[20:], r.next)
		le.PutUint64(b[24:], r.id)
		le.PutUint32(b[36:], 1) // tree
		le.PutUint64(b[40:], 7) // session
		b = append(b, r.body...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// body returns a structure of the given size. Each pair of fields is an offset
// and a value, whose type determines its length.
func body(size int, fields ...any) []byte {
	b := make([]byte, size)
	for i := 0; i < len(fields); i += 2 {
		at := fields[i].(int)
		switch v := fields[i+1].(type) {
		case uint8:
			b[at] = v
		case uint16:
			binary.LittleEndian.PutUint16(b[at:], v)
		case uint32:
			binary.LittleEndian.PutUint32(b[at:], v)
		case int64:
			binary.LittleEndian.PutUint64(b[at:], uint64(v))
		}
	}
	return b
}

// A Windows time in 2023.
const someTime = int64(133_200_000_000_000_000)

// answer sets the status and the body of a reply.
func (f *fake) answer(r *reply, request []byte) {
	size := int64(len(f.file))
	switch r.command {
	case cmdNegotiate:
		r.body = body(64, 0, uint16(65), 4, f.version, 28, uint32(1<<20), 32, uint32(1<<20), 36, uint32(1<<20), 56, uint16(128), 60, uint32(128))
	case cmdSessionSetup:
		token := challenge([]byte{0, 0, 0, 0})
		r.body = append(body(8, 0, uint16(9), 4, uint16(72), 6, uint16(len(token))), token...)
		r.status = moreProcessing
		if r.number > 0 {
			r.status, r.body = 0, body(8, 0, uint16(9), 2, uint16(isNull), 4, uint16(72))
		}
	case cmdTreeConnect:
		r.body = body(16, 0, uint16(16), 2, uint8(1))
	case cmdCreate:
		attributes := uint32(0)
		if length := binary.LittleEndian.Uint16(request[46:]); length == 0 || length == 2 && request[56] == 'd' { // the root, and "d"
			attributes = isFolder
		}
		f.folder = attributes == isFolder
		r.body = body(88, 0, uint16(89), 8, someTime, 16, someTime, 24, someTime, 32, someTime, 48, size, 56, attributes)
	case cmdClose:
		r.body = body(60, 0, uint16(60))
	case cmdQueryInfo:
		info := body(100, 0, someTime, 8, someTime, 16, someTime, 24, someTime, 48, size)
		if f.folder {
			info[32] = isFolder
		}
		r.body = append(body(8, 0, uint16(9), 2, uint16(72), 4, uint32(len(info))), info...)
	case cmdRead:
		length, offset := int64(binary.LittleEndian.Uint32(request[4:])), int64(binary.LittleEndian.Uint64(request[8:]))
		if offset >= size {
			r.status, r.body = 0xc0000011, body(9, 0, uint16(9))
			return
		}
		data := f.file[offset:min(size, offset+length)]
		r.body = append(body(16, 0, uint16(17), 2, uint8(80), 4, uint32(len(data))), data...)
	case cmdQueryDirectory:
		if f.read == len(f.batches) {
			r.status, r.body = 0x80000006, body(9, 0, uint16(9))
			return
		}
		data := f.batches[f.read]
		f.read++
		r.body = append(body(8, 0, uint16(9), 2, uint16(72), 4, uint32(len(data))), data...)
	default:
		r.status, r.body = 0xc00000bb, body(9, 0, uint16(9))
	}
}

// challenge returns the second message of a login, with the given information
// about the server.
func challenge(info []byte) []byte {
	message := append([]byte("NTLMSSP\x00"), body(48, 0, uint32(2), 8, uint32(56), 12, uint32(0xe28a8235), 32, uint16(len(info)), 34, uint16(len(info)), 36, uint32(56))...)
	message = append(message, info...)
	token, err := asn1.MarshalWithParams(struct {
		State    asn1.Enumerated       `asn1:"explicit,tag:0"`
		Method   asn1.ObjectIdentifier `asn1:"explicit,tag:1"`
		Response []byte                `asn1:"explicit,tag:2"`
	}{1, asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 2, 10}, message}, "explicit,tag:1")
	if err != nil {
		panic(err)
	}
	return token
}

// dirEntry returns an entry of a directory.
func dirEntry(name string, size int64, attributes uint32) []byte {
	text := utf16.Encode([]rune(name))
	b := body(entrySize, 8, someTime, 16, someTime, 24, someTime, 32, someTime, 40, size, 56, attributes, 60, uint32(2*len(text)))
	for _, c := range text {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// entriesOf joins the entries of a directory.
func entriesOf(all ...[]byte) []byte {
	var b bytes.Buffer
	for i, e := range all {
		if i < len(all)-1 {
			e = append(e, make([]byte, -len(e)&7)...)
			binary.LittleEndian.PutUint32(e, uint32(len(e)))
		}
		b.Write(e)
	}
	return b.Bytes()
}

// A pipeEnd is an end of a connection in memory.
type pipeEnd struct{ net.Conn }

func (pipeEnd) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 1} }
func (pipeEnd) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port} }

// client returns a Client whose connections lead to the server. The caller calls
// end, which waits for the end of all connections.
func (f *fake) client(t testing.TB) (c *fetch.Client, end func()) {
	var all sync.WaitGroup
	c = schemetest.NewClient(t, Schemes(), func(o *fetch.Options) {
		o.Dial = func(context.Context, string, netip.AddrPort) (net.Conn, error) {
			near, far := net.Pipe()
			far.SetDeadline(time.Now().Add(time.Hour))
			all.Go(func() { defer far.Close(); f.serve(far) })
			return pipeEnd{near}, nil
		}
	})
	return c, func() { c.Close(); all.Wait() }
}
