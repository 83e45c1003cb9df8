package rsync

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/internal/textform"
)

// Kinds of messages of a multiplexed stream.
const (
	dataTag    = 7
	maxIdleMsg = 1000     // consecutive messages without data
	maxText    = 64 << 10 // bytes of the text of one message
)

// errorTags are the kinds of messages with the text of an error.
func isError(tag byte) bool {
	switch tag {
	case dataTag + 1, dataTag + 3, dataTag + 5, dataTag + 8: // ERROR_XFER, ERROR, ERROR_SOCKET, ERROR_UTF8
		return true
	}
	return false
}

// A stream reads the data of a multiplexed stream. It keeps the first message
// with the text of an error.
type stream struct {
	r      *bufio.Reader
	left   int // bytes of data before the next message
	text   string
	strict bool // the text of an error ends the stream
	sticky error

	small []byte // result of take, if the data is divided

	version   int   // of the protocol
	wide      bool  // the flags of entries have variable lengths
	failed    int32 // flags of errors that were sent in messages
	lastIndex int32 // index of the last file that the server has sent
}

// Read reads the next bytes of data.
func (s *stream) Read(p []byte) (int, error) {
	for idle := 0; s.left == 0; idle++ {
		if s.sticky != nil {
			return 0, s.sticky
		}
		if idle > maxIdleMsg {
			s.sticky = fetch.Protocol.Errorf("server sent %d messages without data", idle)
			return 0, s.sticky
		}
		if err := s.message(); err != nil {
			s.sticky = err
		}
		if s.strict && s.text != "" {
			s.sticky = serverError(s.text)
		}
	}
	n, err := s.r.Read(p[:min(len(p), s.left)])
	s.left -= n
	return n, unexpected(err)
}

// message reads the header of the next message. It skips messages without data.
func (s *stream) message() error {
	var head [4]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return unexpected(err)
	}
	v := binary.LittleEndian.Uint32(head[:])
	tag, size := byte(v>>24), int(v&0xffffff)
	switch {
	case tag == dataTag:
		s.left = size
		return nil
	case tag < dataTag || tag > dataTag+120:
		return fetch.Protocol.Errorf("invalid message of the kind %d", tag)
	case size > maxText:
		return fetch.Protocol.Errorf("message of %d bytes", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(s.r, text); err != nil {
		return unexpected(err)
	}
	switch {
	case tag == dataTag+22 && size == 4: // IO_ERROR
		s.failed |= int32(binary.LittleEndian.Uint32(text))
	case tag == dataTag+102: // NO_SEND: the server cannot open the requested file
		if s.text == "" {
			s.text = "the server does not send the file"
		}
		return serverError(s.text)
	case s.text == "" && (isError(tag) || s.version >= varVersion && tag == dataTag+4): // WARNING, such as for a file that vanished
		s.text = strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), 500)]), "?"))
	}
	return nil
}

// unexpected converts the end of the connection to an error of truncated data.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// take reads n bytes of data, at most maxName. They are valid until the next read.
// A list with many entries is read without an allocation for each number.
func (s *stream) take(n int) ([]byte, error) {
	if n <= s.left {
		if b, err := s.r.Peek(n); err == nil {
			s.r.Discard(n)
			s.left -= n
			return b, nil
		}
	}
	s.small = append(s.small[:0], make([]byte, n)...)
	_, err := io.ReadFull(s, s.small)
	return s.small, err
}

// byte reads a byte.
func (s *stream) byte() (byte, error) {
	b, err := s.take(1)
	if err != nil {
		return 0, err
	}
	return b[0], nil
}

// int reads a number of 32 bits.
func (s *stream) int() (int32, error) {
	b, err := s.take(4)
	if err != nil {
		return 0, err
	}
	return int32(binary.LittleEndian.Uint32(b)), nil
}

// long reads a size, which has 64 bits if it exceeds 31 bits.
func (s *stream) long() (int64, error) {
	short, err := s.int()
	if err != nil || short != -1 {
		if err == nil && short < 0 {
			err = fetch.Protocol.Errorf("negative size")
		}
		return int64(short), err
	}
	b, err := s.take(8)
	if err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint64(b))
	if n < 0 {
		return 0, fetch.Protocol.Errorf("negative size")
	}
	return n, nil
}

// appendInts appends numbers of 32 bits.
func appendInts(b []byte, all ...int32) []byte {
	for _, n := range all {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// serverError returns the error for a message of the server.
func serverError(text string) error {
	lower := strings.ToLower(text)
	fault := fetch.Denied
	switch {
	case strings.Contains(lower, "no such file"), strings.Contains(lower, "unknown module"), strings.Contains(lower, "not a directory"),
		strings.Contains(lower, "has vanished"):
		fault = fetch.NotFound
	case strings.Contains(lower, "auth failed"):
		fault = fetch.Auth
	case strings.Contains(lower, "max connections"):
		fault = fetch.TryLater
	}
	return fault.Errorf("server: %s", textform.Excerpt(text))
}

// fault adds a Fault to an error of the connection or of the stream.
func fault(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fetch.Truncated.Errorf("server closed the connection: %w", err)
	}
	return err
}

// readLine reads a line of the greeting and returns it without the line end.
func readLine(r *bufio.Reader) (string, error) {
	const limit = 4096
	var line []byte
	for len(line) <= limit {
		c, err := r.ReadByte()
		if err != nil {
			return "", unexpected(err)
		}
		if c == '\n' {
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		line = append(line, c)
	}
	return "", fetch.Protocol.Errorf("line longer than %d bytes", limit)
}
