package ipfs

import (
	"bufio"
	"bytes"
	"io"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxBlock  = 2 << 20  // bytes of a block, as between nodes of IPFS
	maxHeader = 16 << 10 // bytes of the header of a CAR file
	maxCID    = 4*9 + maxDigest
)

// A carReader reads the blocks of a CAR file of version 1.
type carReader struct {
	r *bufio.Reader
	verifier
}

// newCAR reads the header of a CAR file. The roots in it are not used, because
// each block is compared with the identifier that a verified block names.
func newCAR(r io.Reader, v verifier) (*carReader, error) {
	c := &carReader{bufio.NewReaderSize(r, 64<<10), v}
	size, err := c.size(maxHeader)
	if err == io.EOF {
		return nil, fetch.Truncated.Errorf("the CAR file is empty")
	}
	if err != nil {
		return nil, err
	}
	header := make([]byte, size)
	if _, err := io.ReadFull(c.r, header); err != nil {
		return nil, cutOff(err)
	}
	// The header is a map in CBOR: "version" is a string of 7 bytes, followed by
	// the number 1.
	if size == 0 || header[0]>>5 != 5 || !bytes.Contains(header, []byte("\x67version\x01")) {
		return nil, fetch.Protocol.Errorf("the response is not a CAR file of version 1")
	}
	return c, nil
}

// next returns the next block, which it has compared with its identifier. It
// returns io.EOF after the last block.
func (c *carReader) next() (id cid, block []byte, err error) {
	size, err := c.size(maxBlock + maxCID)
	if err != nil {
		return id, nil, err
	}
	section := make([]byte, size)
	if _, err := io.ReadFull(c.r, section); err != nil {
		return id, nil, cutOff(err)
	}
	if id, block, err = cutCID(section); err != nil {
		return id, nil, fetch.Protocol.Errorf("a CAR file has an %w", err)
	}
	if len(block) > maxBlock {
		return id, nil, tooLarge()
	}
	return id, block, c.verify(id, block)
}

// size reads the length of a section. It returns io.EOF at the end of the file.
func (c *carReader) size(limit uint64) (uint64, error) {
	size := uint64(0)
	for shift := 0; ; shift += 7 {
		b, err := c.r.ReadByte()
		if err == io.EOF && shift == 0 {
			return 0, io.EOF
		}
		if err != nil {
			return 0, cutOff(err)
		}
		size |= uint64(b&0x7f) << shift
		if size > limit || shift > 28 {
			return 0, tooLarge()
		}
		if b < 0x80 {
			return size, nil
		}
	}
}

func tooLarge() error {
	return fetch.TooLarge.Errorf("a block exceeds the limit of %d bytes", maxBlock)
}

// cutOff returns the error for a file that ends inside a section.
func cutOff(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fetch.Truncated.Errorf("the CAR file ends inside a block")
	}
	return err
}
