package ipfs

import (
	"encoding/binary"
	"time"

	"github.com/anyurl/fetch/fetch"
)

// Types of UnixFS nodes.
const (
	rawType       = 0
	directoryType = 1
	fileType      = 2
	metadataType  = 3
	symlinkType   = 4
	shardType     = 5
)

// Wire types of protocol buffers.
const (
	varintWire = 0
	wire64     = 1
	bytesWire  = 2
	wire32     = 5
)

// A field is a field of a protocol buffer.
type field struct {
	number uint64
	wire   byte
	value  uint64 // of a varint
	bytes  []byte // of a string, or the bytes of a number
}

// is reports whether the field has the given number and wire type.
func (f field) is(number uint64, wire byte) bool { return f.number == number && f.wire == wire }

// cutField returns the first field of a message, and the rest of the message.
func cutField(b []byte) (f field, rest []byte, err error) {
	malformed := fetch.Protocol.Errorf("malformed protocol buffer")
	tag, n := binary.Uvarint(b)
	if n <= 0 || tag>>3 == 0 {
		return f, nil, malformed
	}
	b = b[n:]
	f.number, f.wire = tag>>3, byte(tag&7)
	size := uint64(0)
	switch f.wire {
	case varintWire:
		if f.value, n = binary.Uvarint(b); n <= 0 {
			return f, nil, malformed
		}
		return f, b[n:], nil
	case wire64:
		size = 8
	case wire32:
		size = 4
	case bytesWire:
		if size, n = binary.Uvarint(b); n <= 0 {
			return f, nil, malformed
		}
		b = b[n:]
	default:
		return f, nil, malformed
	}
	if size > uint64(len(b)) {
		return f, nil, malformed
	}
	f.bytes = b[:size]
	return f, b[size:], nil
}

// A node is a UnixFS node in a dag-pb block.
type node struct {
	block    []byte
	unixFS   []byte
	kind     uint64
	data     []byte // content of a file, target of a symbolic link, bit field of a shard
	size     uint64 // of a file, with its links
	hashType uint64 // of a shard
	fanout   uint64 // of a shard
	links    int
	time     time.Time
}

// maxSize is the maximum size of a file in bytes.
const maxSize = 1 << 62

// parseNode parses a dag-pb block.
func parseNode(block []byte) (n node, err error) {
	n.block = block
	found := false
	var f field
	for rest := block; len(rest) > 0; {
		if f, rest, err = cutField(rest); err != nil {
			return n, err
		}
		switch {
		case f.is(1, bytesWire) && found:
			return n, fetch.Protocol.Errorf("a dag-pb block has two fields with data")
		case f.is(1, bytesWire):
			n.unixFS, found = f.bytes, true
		case f.is(2, bytesWire):
			n.links++
		default:
			return n, fetch.Protocol.Errorf("unknown field %d in a dag-pb block", f.number)
		}
	}
	if !found {
		return n, fetch.Unsupported.Errorf("a dag-pb block without UnixFS data is not supported")
	}
	return n, n.parseUnixFS()
}

// parseUnixFS parses the data of the block.
func (n *node) parseUnixFS() (err error) {
	kinds, total, sizes := 0, uint64(0), 0
	announced := false
	var f field
	for rest := n.unixFS; len(rest) > 0; {
		if f, rest, err = cutField(rest); err != nil {
			return err
		}
		switch {
		case f.is(1, varintWire):
			n.kind, kinds = f.value, kinds+1
		case f.is(2, bytesWire):
			n.data = f.bytes
		case f.is(3, varintWire):
			n.size, announced = f.value, true
		case f.is(5, varintWire):
			n.hashType = f.value
		case f.is(6, varintWire):
			n.fanout = f.value
		case f.is(8, bytesWire):
			n.time = parseTime(f.bytes)
		}
	}
	if kinds != 1 || n.kind > shardType {
		return fetch.Protocol.Errorf("a UnixFS node has no valid type")
	}
	if n.kind != fileType && n.kind != rawType {
		return nil
	}
	for all := n.sizes(); ; sizes++ {
		size, ok, err := all.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if total += size; size > maxSize || total > maxSize {
			return fetch.Protocol.Errorf("a UnixFS file is larger than %d bytes", int64(maxSize))
		}
	}
	total += uint64(len(n.data))
	if sizes != n.links || announced && n.size != total {
		return fetch.Protocol.Errorf("the sizes in a UnixFS file contradict each other")
	}
	n.size = total
	return nil
}

// parseTime parses the time of a UnixFS node. The result is zero if the time is
// malformed.
func parseTime(b []byte) time.Time {
	seconds, nanoseconds := int64(0), int64(0)
	for len(b) > 0 {
		f, rest, err := cutField(b)
		if err != nil {
			return time.Time{}
		}
		switch {
		case f.is(1, varintWire):
			seconds = int64(f.value)
		case f.is(2, wire32):
			nanoseconds = int64(binary.LittleEndian.Uint32(f.bytes))
		}
		b = rest
	}
	if nanoseconds > 999_999_999 || seconds < -62135596800 || seconds > 253402300799 { // the years 1 to 9999
		return time.Time{}
	}
	return time.Unix(seconds, nanoseconds).UTC()
}

// sizes are the sizes of the children of a file that were not read yet.
type sizes struct{ rest, packed []byte }

func (n *node) sizes() sizes { return sizes{rest: n.unixFS} }

// next returns the next size. It returns false after the last one.
func (s *sizes) next() (size uint64, ok bool, err error) {
	for len(s.packed) == 0 {
		if len(s.rest) == 0 {
			return 0, false, nil
		}
		var f field
		if f, s.rest, err = cutField(s.rest); err != nil {
			return 0, false, err
		}
		if f.is(4, varintWire) {
			return f.value, true, nil
		}
		if f.is(4, bytesWire) {
			s.packed = f.bytes
		}
	}
	size, n := binary.Uvarint(s.packed)
	if n <= 0 {
		return 0, false, fetch.Protocol.Errorf("malformed protocol buffer")
	}
	s.packed = s.packed[n:]
	return size, true, nil
}

// A link is a link of a dag-pb block.
type link struct {
	cid  cid
	name string
	size uint64 // of the block and all blocks below it, as its author stated
}

// links are the links of a block that were not read yet. They refer to the block,
// so that the memory for a block with many short links is only its size.
type links struct{ rest []byte }

// next returns the next link. It returns false after the last one.
func (l *links) next() (found link, ok bool, err error) {
	for len(l.rest) > 0 {
		var f field
		if f, l.rest, err = cutField(l.rest); err != nil {
			return link{}, false, err
		}
		if f.is(2, bytesWire) {
			found, err = parseLink(f.bytes)
			return found, err == nil, err
		}
	}
	return link{}, false, nil
}

func parseLink(b []byte) (l link, err error) {
	found := false
	var f field
	for len(b) > 0 {
		if f, b, err = cutField(b); err != nil {
			return l, err
		}
		switch {
		case f.is(1, bytesWire) && !found:
			if l.cid, err = parseBinary(f.bytes); err != nil {
				return l, fetch.Protocol.Errorf("a link has an %w", err)
			}
			found = true
		case f.is(2, bytesWire):
			l.name = string(f.bytes)
		case f.is(3, varintWire):
			l.size = f.value
		}
	}
	if !found {
		return l, fetch.Protocol.Errorf("a link has no content identifier")
	}
	return l, nil
}
