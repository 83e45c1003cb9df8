package rsync

import (
	"encoding/binary"
	"math/bits"

	"github.com/anyurl/fetch/fetch"
)

// The numbers of version 30 of the protocol have variable lengths. The first
// byte is the most significant one. Its leading ones are the number of bytes that
// follow in addition to the minimum, and the others have little-endian order.

// maxExtra is the maximum number of leading ones that count.
const maxExtra = 6

// extra returns the number of additional bytes after the first byte, and the
// bits of the first byte that belong to the number.
func extra(first byte) (n int, low byte) {
	n = min(bits.LeadingZeros8(^first), maxExtra)
	return n, first & (0xff >> n)
}

// varint reads a number of 32 bits with one to five bytes.
func (s *stream) varint() (int32, error) {
	n, err := s.variable(1)
	if err == nil && n>>32 != 0 {
		err = fetch.Protocol.Errorf("number with more than 32 bits")
	}
	return int32(n), err
}

// varlong reads a number of 64 bits with the given minimum of bytes.
func (s *stream) varlong(minimum int) (int64, error) {
	n, err := s.variable(minimum)
	return int64(n), err
}

// variable reads a number with the given minimum of bytes.
func (s *stream) variable(minimum int) (uint64, error) {
	var b [8 + 1]byte
	first, err := s.byte()
	if err != nil {
		return 0, err
	}
	n, low := extra(first)
	if n += minimum - 1; n > 8 {
		return 0, fetch.Protocol.Errorf("number with more than 64 bits")
	}
	rest, err := s.take(n)
	if err != nil {
		return 0, err
	}
	copy(b[:], rest)
	if b[n] = low; b[8] != 0 {
		return 0, fetch.Protocol.Errorf("number with more than 64 bits")
	}
	return binary.LittleEndian.Uint64(b[:8]), nil
}

// short reads a number of 16 bits.
func (s *stream) short() (uint16, error) {
	b, err := s.take(2)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint16(b), nil
}

// Prefixes of the indexes of files in version 30 of the protocol. An index is
// a difference of one byte to the previous index, or follows a prefix.
const (
	endOfFiles    = 0
	longIndex     = 0xfe // a difference of two bytes, or an index of four
	negativeIndex = 0xff
)

// fileIndex reads the index of a file. It returns -1 at the end of all files.
func (s *stream) fileIndex() (int32, error) {
	if s.version < varVersion {
		return s.int()
	}
	first, err := s.byte()
	if err != nil || first == endOfFiles {
		return -1, err
	}
	number := s.lastIndex + int32(first)
	switch first {
	case negativeIndex:
		return 0, fetch.Protocol.Errorf("negative index of a file")
	case longIndex:
		b, err := s.take(2)
		if err != nil {
			return 0, err
		}
		high, low := int32(b[0]), int32(b[1])
		if high&0x80 == 0 {
			number = s.lastIndex + high<<8 + low
			break
		}
		if b, err = s.take(2); err != nil {
			return 0, err
		}
		number = (high&0x7f)<<24 | int32(b[1])<<16 | int32(b[0])<<8 | low
	}
	if number < 0 {
		return 0, fetch.Protocol.Errorf("index of a file with more than 31 bits")
	}
	s.lastIndex = number
	return number, nil
}

// appendIndex appends the index of a file after the index last.
func appendIndex(b []byte, number, last int32) []byte {
	switch difference := number - last; {
	case 0 < difference && difference < longIndex:
		return append(b, byte(difference))
	case 0 <= difference && difference < 1<<15:
		return append(b, longIndex, byte(difference>>8), byte(difference))
	}
	return append(b, longIndex, byte(number>>24)|0x80, byte(number), byte(number>>8), byte(number>>16))
}
