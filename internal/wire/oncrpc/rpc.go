package oncrpc

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

const (
	rpcVersion = 2
	call       = 0
	reply      = 1
	authSys    = 1
	maxAuth    = 400 // bytes of a credential
	lastPart   = 1 << 31
	maxParts   = 1 << 10 // fragments of a record
)

// A Call is the header of an RPC call with an AUTH_SYS credential.
type Call struct {
	XID                         uint32
	Program, Version, Procedure uint32
	UID, GID                    uint32
}

// Append appends the encoded call with its record mark to dst.
func (c Call) Append(dst, args []byte) []byte {
	start := len(dst)
	dst = AppendUint32(dst, 0)
	for _, v := range []uint32{c.XID, call, rpcVersion, c.Program, c.Version, c.Procedure, authSys} {
		dst = AppendUint32(dst, v)
	}
	credential := AppendOpaque(AppendUint32(nil, 0), "") // stamp and name of the machine
	for _, v := range []uint32{c.UID, c.GID, 0} {
		credential = AppendUint32(credential, v)
	}
	dst = AppendOpaque(dst, credential)
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0) // no verifier
	dst = append(dst, args...)
	binary.BigEndian.PutUint32(dst[start:], lastPart|uint32(len(dst)-start-4))
	return dst
}

// ReadRecord reads a record into buf, which grows if necessary. A record of more
// than limit bytes is an error. At the end of r, ReadRecord returns io.EOF, and
// within a record io.ErrUnexpectedEOF.
func ReadRecord(r *bufio.Reader, buf []byte, limit int) ([]byte, error) {
	buf = buf[:0]
	for part := 0; ; part++ {
		var mark [4]byte
		if _, err := io.ReadFull(r, mark[:]); err != nil {
			if part > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		v := binary.BigEndian.Uint32(mark[:])
		n := int(v &^ lastPart)
		if n > limit-len(buf) || part == maxParts {
			return nil, malformed("record of more than %d bytes or %d fragments", limit, maxParts)
		}
		at := len(buf)
		buf = slices.Grow(buf, n)[:at+n]
		if _, err := io.ReadFull(r, buf[at:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if v&lastPart != 0 {
			return buf, nil
		}
	}
}

// A Rejection is the error for a call that the server did not execute.
type Rejection struct {
	Denied bool   // the server rejected the version of RPC, or the credential if Auth is not zero
	Auth   uint32 // reason for which the credential was rejected
	Status uint32 // 1 no such program, 2 no such version, 3 no such procedure, 4 invalid arguments, 5 system error
}

// Error describes the rejection.
func (r *Rejection) Error() string {
	switch {
	case r.Denied && r.Auth != 0:
		return fmt.Sprintf("server rejected the credential (RPC authentication error %d)", r.Auth)
	case r.Denied:
		return "server does not support RPC version 2"
	}
	names := []string{"", "program", "version of the program", "procedure"}
	if r.Status < uint32(len(names)) {
		return "server has no such " + names[r.Status]
	}
	return fmt.Sprintf("server could not process the call (RPC status %d)", r.Status)
}

// XIDOf returns the transaction identifier (XID) of an encoded reply.
func XIDOf(record []byte) (uint32, error) {
	d := NewDecoder(record)
	xid := d.Uint32()
	if kind := d.Uint32(); kind != reply {
		d.Fail("message of type %d", kind)
	}
	return xid, d.Err()
}

// ParseReply returns a Decoder for the results in a reply. The error is a
// *Rejection if the server did not execute the call.
func ParseReply(record []byte) (*Decoder, error) {
	d := NewDecoder(record)
	d.Uint32()
	if kind := d.Uint32(); kind != reply {
		d.Fail("message of type %d", kind)
	}
	switch status := d.Uint32(); {
	case d.Err() != nil:
	case status == 1:
		rejected := &Rejection{Denied: true}
		if d.Uint32() == 1 {
			rejected.Auth = d.Uint32()
		}
		if d.Err() == nil {
			return nil, rejected
		}
	case status == 0:
		d.Uint32()
		d.Opaque(maxAuth)
		if accepted := d.Uint32(); accepted != 0 && d.Err() == nil {
			return nil, &Rejection{Status: accepted}
		}
	default:
		d.Fail("reply of status %d", status)
	}
	return d, d.Err()
}
