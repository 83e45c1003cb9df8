package rsync

import (
	"bytes"
	"encoding/binary"
	"hash"
	"io"

	"github.com/anyurl/fetch/fetch"
)

// A content reads the bytes of a file. They are sent in tokens. A token is a
// number of bytes and the bytes. The token 0 and a digest are the end.
type content struct {
	s      *session
	size   int64 // in the list
	read   int64
	left   int32 // bytes of the current token
	digest hash.Hash
	exact  bool // the file must not be longer than in the list, which may be old
	err    error
}

// Kinds of requests and replies for files since version 29.
const (
	otherBasis = 1 << 11
	otherName  = 1 << 12
	transfer   = 1 << 15
)

// sendRequest requests a file by its index, with an empty list of blocks that the
// client has.
func (s *session) sendRequest(number int32) error {
	if s.version < varVersion {
		return s.sendData(appendInts(nil, number, 0, 0, 0, 0))
	}
	b := binary.LittleEndian.AppendUint16(appendIndex(make([]byte, 0, 32), number, s.last), transfer)
	s.last = number
	return s.sendData(appendInts(b, 0, 0, 0, 0))
}

// openFile reads the reply to the request for the file with the given index.
func (s *session) openFile(number int32, size int64) (*content, error) {
	index, err := s.in.fileIndex()
	switch {
	case err != nil && s.in.text != "", err == nil && index == -1:
		if s.in.text != "" {
			return nil, serverError(s.in.text)
		}
		return nil, fetch.Denied.Errorf("the server does not send the file")
	case err != nil:
		return nil, err
	case index != number:
		return nil, fetch.Protocol.Errorf("the server sends the file %d instead of %d", index, number)
	}
	if s.version >= varVersion {
		if kind, err := s.in.short(); err != nil {
			return nil, err
		} else if kind&(transfer|otherBasis|otherName) != transfer {
			return nil, fetch.Protocol.Errorf("the reply for a file has the kind %#x", kind)
		}
	}
	for range 4 { // the list of blocks, repeated
		n, err := s.in.int()
		if err != nil {
			return nil, err
		}
		if n != 0 {
			return nil, fetch.Protocol.Errorf("the server refers to blocks that the client does not have")
		}
	}
	return &content{s: s, size: size, digest: newDigest(s.digest, s.seed)}, nil
}

// Read returns io.EOF only after the digest of the file was compared.
func (b *content) Read(p []byte) (int, error) {
	if b.err != nil || len(p) == 0 {
		return 0, b.err
	}
	if b.left == 0 {
		if b.err = fault(b.token()); b.err != nil {
			return 0, b.err
		}
	}
	n, err := b.s.in.Read(p[:min(len(p), int(b.left))])
	b.digest.Write(p[:n])
	b.left -= int32(n)
	b.read += int64(n)
	b.err = fault(err)
	return n, b.err
}

// token reads the length of the next token. It returns io.EOF at the end.
func (b *content) token() error {
	n, err := b.s.in.int()
	switch {
	case err != nil:
		return err
	case n < 0:
		return fetch.Protocol.Errorf("the server refers to a block that the client does not have")
	case b.exact && b.read+int64(n) > b.size:
		return fetch.Truncated.Errorf("the file became longer than in the list of its directory")
	case n > 0:
		b.left = n
		return nil
	}
	sum, err := b.s.in.take(b.digest.Size())
	if err != nil {
		return err
	}
	if !bytes.Equal(b.digest.Sum(nil), sum) {
		if b.read < b.size {
			return fetch.Truncated.Errorf("the file became shorter while the server read it")
		}
		return fetch.Mismatch.Errorf("the file has another digest than the server reports")
	}
	if b.read < b.size {
		return fetch.Truncated.Errorf("the file has %d bytes instead of %d", b.read, b.size)
	}
	return io.EOF
}
