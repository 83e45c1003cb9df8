package tftp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// Kinds of datagrams (RFC 1350 section 5 and RFC 2347).
const (
	kindRRQ   = 1
	kindDATA  = 3
	kindACK   = 4
	kindERROR = 5
	kindOACK  = 6
)

// Codes of errors (RFC 1350 appendix I and RFC 2347).
const (
	codeText    = 0
	codeFile    = 1
	codeIllegal = 4
	codeID      = 5
	codeOptions = 8
)

// maxRequest is the maximum size of a request in bytes (RFC 2347).
const maxRequest = 512

// retransmission is the number of seconds after which the server should send a
// datagram again (RFC 2349).
const retransmission = 2

// A request is a read request.
type request struct {
	locator
	options bool
	block   int
}

// append appends the datagram of q to dst.
func (q request) append(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, kindRRQ)
	words := []string{q.file, q.mode}
	if q.options {
		words = append(words, "tsize", "0", "blksize", strconv.Itoa(q.block), "timeout", strconv.Itoa(retransmission))
	}
	for _, w := range words {
		dst = append(append(dst, w...), 0)
	}
	return dst
}

// String returns the file name, the mode and the options.
func (q request) String() string {
	s := q.file + " " + q.mode
	if q.options {
		s += fmt.Sprintf(" tsize 0 blksize %d timeout %d", q.block, retransmission)
	}
	return s
}

// A packet is a datagram from the server.
type packet struct {
	kind  uint16
	block uint16 // number of a block, or code of an error
	data  []byte // the rest of the datagram
}

// parsePacket parses a datagram. It returns false if the datagram is too short.
func parsePacket(p []byte) (packet, bool) {
	if len(p) < 2 {
		return packet{}, false
	}
	k := packet{kind: binary.BigEndian.Uint16(p), data: p[2:]}
	if k.kind == kindOACK {
		return k, true
	}
	if len(p) < 4 {
		return packet{}, false
	}
	k.block, k.data = binary.BigEndian.Uint16(p[2:]), p[4:]
	return k, true
}

// appendAck appends the acknowledgment of a block to dst.
func appendAck(dst []byte, block uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(dst, kindACK), block)
}

// errorPacket returns a datagram that ends the transfer.
func errorPacket(code uint16, text string) []byte {
	p := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, kindERROR), code)
	return append(append(p, text...), 0)
}

// An agreement contains the options that the server has accepted.
type agreement struct {
	block int
	size  int64 // -1 if unknown
}

// parseOptions parses the options of an OACK datagram. It returns an error for
// an option that was not requested, and for a value that RFC 2348 and RFC 2349
// do not allow.
func (q request) parseOptions(p []byte) (agreement, error) {
	a := agreement{block: defaultBlock, size: -1}
	reject := func(name, value string) (agreement, error) {
		return a, fetch.Protocol.Errorf("server sent the invalid option %s=%s", textform.Excerpt(name), textform.Excerpt(value))
	}
	seen := map[string]bool{}
	for len(p) > 0 {
		var name, value string
		var ok bool
		if name, p, ok = cutText(p); ok {
			value, p, ok = cutText(p)
		}
		name = strings.ToLower(name)
		if !ok || seen[name] || !q.options {
			return reject(name, value)
		}
		seen[name] = true
		n, err := strconv.ParseUint(value, 10, 63)
		switch {
		case err != nil:
			return reject(name, value)
		case name == "blksize" && minBlock <= n && n <= uint64(q.block):
			a.block = int(n)
		case name == "tsize":
			a.size = int64(n)
		case name == "timeout" && n == retransmission:
		default:
			return reject(name, value)
		}
	}
	if a.size == 0 || q.mode == "netascii" { // some servers return the value of the request
		a.size = -1
	}
	return a, nil
}

// cutText returns the text before the next NUL, and the bytes after the NUL.
func cutText(p []byte) (text string, rest []byte, ok bool) {
	before, rest, ok := bytes.Cut(p, []byte{0})
	return string(before), rest, ok
}

// fault returns the error for an ERROR datagram.
func (k packet) fault() error {
	text, _, _ := cutText(k.data)
	class := fetch.Denied
	switch k.block {
	case codeFile:
		class = fetch.NotFound
	case codeIllegal, codeID, codeOptions:
		class = fetch.Protocol
	}
	err := class.Errorf("server sent error %d: %s", k.block, textform.Excerpt(text))
	return &fetch.Error{Code: int(k.block), Err: err}
}
