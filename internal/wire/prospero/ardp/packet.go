// Package ardp implements the Asynchronous Reliable Delivery Protocol, with
// which Prospero sends a request and its reply as datagrams.
//
// New sends a request over a connected socket and returns a Call, which reads
// the reply. The Call is the only user of the socket. Parse and Packet.Append
// decode and encode the packets of both sides.
//
// Prospero's servers use version 0. Version 1 of 1998 is supported too.
// Sources: B. C. Neuman, "The Prospero Protocol", version 5, 1993, appendix,
// and the descriptions of both versions by ISI.
package ardp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Packet is one ARDP datagram. A field is zero if the datagram omits it,
// except for Number.
type Packet struct {
	Version  uint8  // 0 or 1
	Size     int    // minimum size of the header in octets, at most 13; version 0 only
	ID       uint16 // id of the conversation
	Number   uint16 // number of the packet, from 1; 0: a control packet outside the message
	Total    uint16 // number of packets of the message; 0: unknown
	Received uint16 // last packet of the other side that arrived without a gap
	HasWait  bool
	Wait     uint16 // requested wait in seconds; 0: the normal wait
	Ack      bool   // requests an acknowledgement
	Control  bool   // the packet is numbered, but its data is not part of the message
	Option   Option
	Args     []byte // arguments of Option
	Data     []byte
}

// An Option is the control function of a packet, such as a redirect.
type Option uint8

const (
	Refused     Option = 1 // the server refuses the request, or the client cancels it
	Reset       Option = 2 // Received may decrease
	Redirect    Option = 4 // send the request to the IPv4 address and port in Args
	RedirectAll Option = 5 // send this and all later requests to Args
	Queue       Option = 254
)

// ErrVersion means that the server requires another version of the protocol.
var ErrVersion = errors.New("server speaks another version of ARDP")

// ErrMalformed is the error for bytes that are not a valid packet. Other errors
// wrap it.
var ErrMalformed = errors.New("malformed packet")

// errNoHeader means that a datagram starts with text instead of a header, as in
// versions of Prospero before ARDP.
var errNoHeader = malformed("no header")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Sizes of headers in octets.
const (
	wholeHeader0 = 13 // version 0, without the arguments of flags and options
	wholeHeader1 = 11 // version 1, without the arguments of flags and options
	maxHeader0   = 31 // a larger first octet is a letter, so the datagram is text
	first1       = 129
)

// Parse decodes a datagram. The Args and Data of the Packet share memory with
// b.
func Parse(b []byte) (Packet, error) {
	switch {
	case len(b) == 0:
		return Packet{}, malformed("no octet")
	case b[0] == 0:
		return Packet{}, ErrVersion
	case b[0] == first1:
		return parse1(b)
	case b[0] > maxHeader0:
		return Packet{}, errNoHeader
	}
	return parse0(b)
}

// Flags in octet 11 of a header of version 0.
const (
	address0  = 0x01 // an address of unknown length follows
	priority0 = 0x02 // like the next two flags, adds an argument of two octets
	protocol0 = 0x04
	window0   = 0x08
	control0  = 0x40
	ack0      = 0x80
)

func parse0(b []byte) (p Packet, err error) {
	n := int(b[0])
	if n > len(b) {
		return p, malformed("header of %d octets in %d", n, len(b))
	}
	head := b[:n:n]
	p = Packet{Size: min(n, wholeHeader0), Number: 1, Data: b[n:]}
	word := func(at int) uint16 { return binary.BigEndian.Uint16(head[at:]) }
	if n >= 3 {
		p.ID = word(1)
	}
	if n >= 5 {
		p.Number = word(3)
	} else {
		p.Total = 1
	}
	if n >= 7 {
		p.Total = word(5)
	}
	if n >= 9 {
		p.Received = word(7)
	}
	if n >= 11 {
		p.HasWait, p.Wait = true, word(9)
	}
	if n < 12 {
		return p, nil
	}
	flags := head[11]
	p.Ack, p.Control = flags&ack0 != 0, flags&control0 != 0
	if n < wholeHeader0 {
		return p, nil
	}
	p.Option, p.Args = Option(head[12]), head[wholeHeader0:]
	for _, flag := range []byte{priority0, protocol0, window0} {
		if flags&flag != 0 {
			p.Args = p.Args[min(2, len(p.Args)):]
		}
	}
	if flags&address0 != 0 || p.Option == 0 {
		p.Args = nil
	}
	return p, nil
}

// Flags in octet 2 of a header of version 1. The flags from total1 to wait1
// each add an argument of two octets, in this order.
const (
	ack1     = 0x01
	control1 = 0x02
	total1   = 0x04
	wait1    = 0x40
	more1    = 0x80 // octet 3 contains further flags instead of an option
)

func parse1(b []byte) (p Packet, err error) {
	if len(b) < 5 || int(b[4]) < 5 || int(b[4]) > len(b) {
		return p, malformed("header of version 1 in %d octets", len(b))
	}
	if b[1] != 0 {
		return p, malformed("context %#x: security is not understood", b[1])
	}
	n, flags := int(b[4]), b[2]
	head := b[:n:n]
	p = Packet{Version: 1, Number: 1, Data: b[n:], Ack: flags&ack1 != 0, Control: flags&control1 != 0}
	if n >= 7 {
		p.ID = binary.BigEndian.Uint16(head[5:])
	}
	if n >= 9 {
		p.Number = binary.BigEndian.Uint16(head[7:])
	}
	args := head[min(n, wholeHeader1):]
	if n >= wholeHeader1 {
		p.Received = binary.BigEndian.Uint16(head[9:])
	}
	for flag := byte(total1); flag <= wait1; flag <<= 1 {
		if flags&flag == 0 {
			continue
		}
		if len(args) < 2 {
			return p, malformed("flag %#x without its argument", flag)
		}
		switch v := binary.BigEndian.Uint16(args); flag {
		case total1:
			p.Total = v
		case wait1:
			p.HasWait, p.Wait = true, v
		}
		args = args[2:]
	}
	if flags&more1 == 0 && b[3] != 0 {
		p.Option, p.Args = Option(b[3]), args
	}
	return p, nil
}

// Append appends the encoded packet to dst and returns the extended slice.
func (p Packet) Append(dst []byte) []byte {
	if p.Version == 1 {
		dst = p.append1(dst)
	} else {
		dst = p.append0(dst)
	}
	return append(dst, p.Data...)
}

func (p Packet) append0(dst []byte) []byte {
	var flags byte
	if p.Ack {
		flags |= ack0
	}
	if p.Control {
		flags |= control0
	}
	var head [wholeHeader0]byte
	n := p.Size
	single := p.Number == 1 && p.Total == 1 // the default if both fields are omitted
	for _, field := range []struct {
		at  int
		v   uint16
		has bool
	}{
		{1, p.ID, p.ID != 0},
		{3, p.Number, !single},
		{5, p.Total, p.Total != 0 && (!single || n >= 5)},
		{7, p.Received, p.Received != 0},
		{9, p.Wait, p.HasWait},
	} {
		binary.BigEndian.PutUint16(head[field.at:], field.v)
		if field.has {
			n = max(n, field.at+2)
		}
	}
	head[11], head[12] = flags, byte(p.Option)
	if flags != 0 {
		n = max(n, 12)
	}
	if p.Option != 0 {
		n = wholeHeader0
	}
	n = max(min(n, wholeHeader0), 1)
	args := p.Args
	if n < wholeHeader0 {
		args = nil
	}
	head[0] = byte(n + len(args))
	return append(append(dst, head[:n]...), args...)
}

func (p Packet) append1(dst []byte) []byte {
	var flags byte
	var args []byte
	if p.Ack {
		flags |= ack1
	}
	if p.Control {
		flags |= control1
	}
	if p.Total != 0 {
		flags, args = flags|total1, binary.BigEndian.AppendUint16(args, p.Total)
	}
	if p.HasWait {
		flags, args = flags|wait1, binary.BigEndian.AppendUint16(args, p.Wait)
	}
	args = append(args, p.Args...)
	dst = append(dst, first1, 0, flags, byte(p.Option), byte(wholeHeader1+len(args)))
	for _, v := range []uint16{p.ID, p.Number, p.Received} {
		dst = binary.BigEndian.AppendUint16(dst, v)
	}
	return append(dst, args...)
}
