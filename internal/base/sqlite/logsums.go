package sqlite

import "encoding/binary"

// Sizes of the header of a write-ahead log and of a frame, in bytes.
const (
	logHeader   = 32
	frameHeader = 24
)

// logMagic is the start of a write-ahead log. If its last bit is 1, the checksums
// are those of big-endian numbers.
const logMagic = 0x377f0682

// logSums checks the frames of a write-ahead log as SQLite does when it recovers
// the log. After a power failure, parts of the last frames can be missing.
type logSums struct {
	order binary.ByteOrder
	salt  [8]byte
	sum   [2]uint32 // checksum of the header and of all frames before
}

// newLogSums returns false if SQLite ignores a log with this header.
func newLogSums(header *[logHeader]byte) (*logSums, bool) {
	l := &logSums{order: binary.LittleEndian, salt: [8]byte(header[16:24])}
	magic := binary.BigEndian.Uint32(header[:])
	if magic&1 != 0 {
		l.order = binary.BigEndian
	}
	l.add(header[:24])
	return l, magic&^1 == logMagic && l.equals(header[24:])
}

// next returns the number of the page in the next frame. It returns false if
// SQLite rejects the frame.
func (l *logSums) next(frame []byte) (number uint32, ok bool) {
	number = binary.BigEndian.Uint32(frame)
	l.add(frame[:8])
	l.add(frame[frameHeader:])
	return number, number != 0 && [8]byte(frame[8:16]) == l.salt && l.equals(frame[16:])
}

// add adds bytes to the checksum. Their number is a multiple of eight.
func (l *logSums) add(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		l.sum[0] += l.order.Uint32(b) + l.sum[1]
		l.sum[1] += l.order.Uint32(b[4:]) + l.sum[0]
	}
}

// equals compares the checksum with a stored one.
func (l *logSums) equals(b []byte) bool {
	return l.sum == [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}
