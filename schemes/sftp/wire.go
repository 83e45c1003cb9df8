package sftp

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Types of packets (draft-ietf-secsh-filexfer-02, section 3).
const (
	initialize  = 1
	version     = 2
	open        = 3
	closeHandle = 4
	read        = 5
	opendir     = 11
	readdir     = 12
	stat        = 17
	readlink    = 19
	status      = 101
	handleReply = 102
	data        = 103
	names       = 104
	attrsReply  = 105
	extended    = 200
	extReply    = 201
)

// Codes of status packets (section 7).
const (
	statusOK  = 0
	statusEOF = 1
)

// Flags of attributes (section 5).
const (
	hasSize     = 1 << 0
	hasOwner    = 1 << 1
	hasMode     = 1 << 2
	hasTimes    = 1 << 3
	hasExtended = 1 << 31
)

// maxPacket is the maximum length of a packet from the server, in bytes.
// OpenSSH sends at most 256 KiB.
const maxPacket = 256<<10 + 1024

// A request is an SFTP packet to be sent. Its first four bytes are the length.
type request []byte

func newRequest(kind byte, id uint32) request {
	return binary.BigEndian.AppendUint32(request{0, 0, 0, 0, kind}, id)
}

func (r request) str(s string) request {
	return append(binary.BigEndian.AppendUint32(r, uint32(len(s))), s...)
}
func (r request) u32(n uint32) request { return binary.BigEndian.AppendUint32(r, n) }
func (r request) u64(n uint64) request { return binary.BigEndian.AppendUint64(r, n) }

// bytes sets the length field and returns the encoded packet.
func (r request) bytes() []byte {
	binary.BigEndian.PutUint32(r, uint32(len(r)-4))
	return r
}

// A packet is a received SFTP packet. Its methods decode the fields in order.
// After a malformed field, they return zero values, and err is not nil.
type packet struct {
	kind byte
	id   uint32
	rest []byte
	err  error
}

func (p *packet) take(n uint32) []byte {
	if p.err != nil || uint64(n) > uint64(len(p.rest)) {
		p.err = fetch.Protocol.Errorf("sftp packet is too short")
		return nil
	}
	field := p.rest[:n]
	p.rest = p.rest[n:]
	return field
}

func (p *packet) u32() uint32 {
	if b := p.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (p *packet) u64() uint64 {
	if b := p.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

func (p *packet) str() string { return string(p.take(p.u32())) }

// attributes are the properties of a file (section 5).
type attributes struct {
	flags uint32
	size  int64
	mode  uint32
	mtime uint32
}

func (p *packet) attributes() (a attributes) {
	a.flags = p.u32()
	if a.has(hasSize) {
		if a.size = int64(p.u64()); a.size < 0 {
			p.err = fetch.Protocol.Errorf("file size of more than 63 bits")
		}
	}
	if a.has(hasOwner) {
		p.take(8)
	}
	if a.has(hasMode) {
		a.mode = p.u32()
	}
	if a.has(hasTimes) {
		p.take(4)
		a.mtime = p.u32()
	}
	if a.has(hasExtended) {
		for n := p.u32(); n > 0 && p.err == nil; n-- {
			p.take(p.u32())
			p.take(p.u32())
		}
	}
	return a
}

func (a attributes) has(flag uint32) bool { return a.flags&flag != 0 }

// time returns the modification time, or the zero Time if it is unknown.
func (a attributes) time() time.Time {
	if !a.has(hasTimes) {
		return time.Time{}
	}
	return time.Unix(int64(a.mtime), 0).UTC()
}

// Bits of the mode that contain the type of a file, as in POSIX.
const (
	modeType    = 0o170000
	modeDir     = 0o040000
	modeRegular = 0o100000
	modeLink    = 0o120000
)

func (a attributes) isDir() bool { return a.has(hasMode) && a.mode&modeType == modeDir }

// isRegular reports whether the file is a regular file. It returns true if the
// type is unknown.
func (a attributes) isRegular() bool {
	return !a.has(hasMode) || a.mode&modeType == modeRegular || a.mode&modeType == 0
}

func (a attributes) isLink() bool { return a.has(hasMode) && a.mode&modeType == modeLink }

// typeName returns the name of the type of a file.
func (a attributes) typeName() string {
	switch a.mode & modeType {
	case modeDir:
		return "directory"
	case modeLink:
		return "symlink"
	case 0o010000:
		return "pipe"
	case 0o020000, 0o060000:
		return "device"
	case 0o140000:
		return "socket"
	}
	return "special file"
}

// readHeader reads the length, type and number of a packet. The result left is
// the number of bytes that follow.
func readHeader(r io.Reader) (p packet, left uint32, err error) {
	var head [9]byte
	if _, err := io.ReadFull(r, head[:5]); err != nil {
		return p, 0, err
	}
	n := binary.BigEndian.Uint32(head[:])
	p.kind = head[4]
	if n > maxPacket || n < 5 {
		return p, 0, fetch.Protocol.Errorf("sftp packet of %d bytes", n)
	}
	if _, err := io.ReadFull(r, head[5:]); err != nil {
		return p, 0, err
	}
	p.id = binary.BigEndian.Uint32(head[5:])
	return p, n - 5, nil
}
