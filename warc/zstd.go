package warc

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
)

// Limits for files that are compressed with zstd. The specification of these
// files requires windows and dictionaries of 8 MiB. Some programs have written
// larger windows.
const (
	maxZstdWindow     = 16 << 20
	maxZstdDictionary = 8 << 20
	maxZstdBlock      = 128 << 10 // RFC 8878 section 3.1.1.2.4
)

const (
	zstdMagic       = "\x28\xb5\x2f\xfd" // start of a frame (RFC 8878 section 3.1.1)
	dictionaryMagic = "\x37\xa4\x30\xec" // start of a dictionary (RFC 8878 section 5)
	dictionaryFrame = "\x5d\x2a\x4d\x18" // start of the frame that contains the dictionary of a WARC file
)

// isSkippable reports whether start begins with the magic number of a skippable
// frame (RFC 8878 section 3.1.2).
func isSkippable(start []byte) bool {
	return len(start) >= 4 && start[0]&0xf0 == 0x50 && string(start[1:4]) == dictionaryFrame[1:]
}

// A zstdCodec is the codec of Zstandard (RFC 8878). A WARC file can begin with
// the dictionary of all its frames.
type zstdCodec struct {
	decoder    *zstd.Decoder
	frame      zstdFrame
	dictionary []byte // dictionary of the file, or nil before it was read or if the file has no dictionary
	loaded     []byte // dictionary that the decoder uses, or nil
}

func (z *zstdCodec) magic() string { return zstdMagic }

func (z *zstdCodec) skip(s *source) error {
	for {
		head, _ := s.in.Peek(8)
		switch {
		case !isSkippable(head):
			return nil
		case s.start == 0 && string(head[:4]) == dictionaryFrame:
			var err error
			if z.dictionary, err = readDictionary(s.in); err != nil {
				return err
			}
		case len(head) < 8:
			return io.ErrUnexpectedEOF
		default:
			if _, err := io.CopyN(io.Discard, s.in, 8+int64(binary.LittleEndian.Uint32(head[4:]))); err != nil {
				return err
			}
		}
		s.start = s.offset()
	}
}

func (z *zstdCodec) open(s *source) (err error) {
	if err = z.frame.open(s.in); err != nil {
		return err
	}
	if z.frame.dictionary != 0 && z.dictionary == nil && s.dictionary != nil {
		if z.dictionary, err = s.dictionary(); err != nil {
			return err
		}
	}
	if z.decoder == nil {
		// A decoder with a concurrency of 1 starts no goroutines. It need not
		// be closed.
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxZstdWindow))
		if err != nil {
			return err
		}
	}
	if len(z.dictionary) == len(z.loaded) && (len(z.loaded) == 0 || &z.dictionary[0] == &z.loaded[0]) {
		return z.decoder.Reset(&z.frame)
	}
	z.loaded = nil
	if err := z.decoder.ResetWithOptions(nil, zstd.WithDecoderDictDelete()); err != nil {
		return err
	}
	if z.dictionary != nil {
		if err := z.decoder.ResetWithOptions(nil, zstd.WithDecoderDicts(z.dictionary)); err != nil {
			return fetch.Mismatch.Errorf("the zstd dictionary of the file is invalid: %w", err)
		}
	}
	z.loaded = z.dictionary
	return z.decoder.Reset(&z.frame)
}

func (z *zstdCodec) Read(p []byte) (int, error) {
	n, err := z.decoder.Read(p)
	switch {
	case err == nil || err == io.EOF && z.frame.end:
	case z.frame.err != nil:
		err = z.frame.err
	case errors.Is(err, zstd.ErrUnknownDictionary):
		err = fetch.Mismatch.Errorf("a zstd frame requires the dictionary %d, which is not at the start of the file", z.frame.dictionary)
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		err = fetch.Mismatch.Errorf("a zstd frame requires a window of more than %d bytes", maxZstdWindow)
	default: // the decoder reports some kinds of damage as io.ErrUnexpectedEOF
		err = fetch.Mismatch.Errorf("corrupt zstd frame: %v", err)
	}
	return n, err
}

// probe checks the header of a frame and of its first block. The text of the
// frame is not decompressed, because the first block can be larger than the
// window.
func (z *zstdCodec) probe(_ *source, window []byte) (n int64, ok bool) {
	var f zstdFrame
	in := bufio.NewReaderSize(strings.NewReader(string(window[:min(len(window), 32)])), 32)
	if f.open(in) != nil {
		return 32, false
	}
	in.Discard(f.remaining)
	return 32, f.nextPart(in) == nil
}

// readDictionary reads the first frame of a file, which contains a dictionary.
func readDictionary(in io.Reader) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return nil, err
	}
	if string(head[:4]) != dictionaryFrame {
		return nil, nil
	}
	size := int64(binary.LittleEndian.Uint32(head[4:]))
	if size > maxZstdDictionary {
		return nil, fetch.Mismatch.Errorf("the zstd dictionary has %d bytes, but the limit is %d", size, maxZstdDictionary)
	}
	text, err := io.ReadAll(io.LimitReader(in, size))
	switch {
	case err != nil:
		return nil, err
	case int64(len(text)) < size:
		return nil, io.ErrUnexpectedEOF
	case strings.HasPrefix(string(text[:min(size, 4)]), zstdMagic):
		if text, err = expandDictionary(text); err != nil {
			return nil, err
		}
	}
	if !strings.HasPrefix(string(text[:min(len(text), 4)]), dictionaryMagic) {
		return nil, fetch.Mismatch.Errorf("the first zstd frame of the file contains no dictionary")
	}
	return text, nil
}

// expandDictionary decompresses a dictionary.
func expandDictionary(text []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxZstdDictionary))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if text, err = d.DecodeAll(text, nil); err != nil {
		return nil, fetch.Mismatch.Errorf("the zstd dictionary of the file cannot be decompressed: %v", err)
	}
	return text, nil
}

// A zstdFrame reads the bytes of one frame and then returns io.EOF, because a
// decoder would otherwise continue with the next frame.
type zstdFrame struct {
	in         *bufio.Reader
	remaining  int    // bytes of the current part: the header, a block or the checksum
	dictionary uint32 // ID of the dictionary, or 0
	checksum   bool   // a checksum follows the last block
	last       bool   // the current block is the last one
	end        bool   // the frame was read completely
	err        error  // error of in
}

// open reads the header of the frame at the current position of in. Read then
// returns the same bytes.
func (f *zstdFrame) open(in *bufio.Reader) error {
	*f = zstdFrame{in: in}
	head, err := in.Peek(18)
	if len(head) < 5 {
		return cmpEOF(err)
	}
	flags := head[4]
	single := flags>>5&1 == 1
	size := 5
	if !single {
		size++ // the size of the window
	}
	idSize := [4]int{0, 1, 2, 4}[flags&3]
	contentSize := [4]int{0, 2, 4, 8}[flags>>6]
	if single && contentSize == 0 {
		contentSize = 1
	}
	if len(head) < size+idSize+contentSize {
		return cmpEOF(err)
	}
	for i := range idSize {
		f.dictionary |= uint32(head[size+i]) << (8 * i)
	}
	if string(head[:4]) != zstdMagic || flags&8 != 0 {
		return fetch.Mismatch.Errorf("corrupt zstd frame: invalid header")
	}
	f.remaining, f.checksum = size+idSize+contentSize, flags&4 != 0
	return nil
}

// cmpEOF replaces io.EOF by io.ErrUnexpectedEOF.
func cmpEOF(err error) error {
	if err == io.EOF || err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read reads the bytes of the frame.
func (f *zstdFrame) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.remaining == 0 && !f.end {
		f.err = f.nextPart(f.in)
	}
	if f.end || f.err != nil || len(p) == 0 {
		if f.end && f.err == nil {
			return 0, io.EOF
		}
		return 0, f.err
	}
	n, err := f.in.Read(p[:min(len(p), f.remaining)])
	f.remaining -= n
	if err != nil {
		f.err = cmpEOF(err)
	}
	return n, f.err
}

// nextPart sets remaining to the size of the next block, or of the checksum.
func (f *zstdFrame) nextPart(in *bufio.Reader) error {
	switch {
	case f.last && f.checksum:
		f.remaining, f.checksum = 4, false
		return nil
	case f.last:
		f.end = true
		return nil
	}
	head, err := in.Peek(3)
	if len(head) < 3 {
		return cmpEOF(err)
	}
	block := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
	size := block >> 3
	f.last = block&1 == 1
	switch kind := block >> 1 & 3; {
	case kind == 3 || size > maxZstdBlock:
		return fetch.Mismatch.Errorf("corrupt zstd frame: invalid block")
	case kind == 1: // one byte is repeated
		size = 1
	}
	f.remaining = 3 + size
	return nil
}
