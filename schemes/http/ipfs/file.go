package ipfs

import (
	"io"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxDepth = 64      // levels of a tree of blocks
	maxHeld  = 8 << 20 // bytes of the blocks from the root to the current one
)

// A getFunc returns a verified block.
type getFunc func(cid) ([]byte, error)

// A fileReader reads the bytes of a file from first up to end. It requests no
// blocks outside of them.
type fileReader struct {
	get    getFunc
	levels []fileLevel
	held   int // bytes of the blocks of levels

	at         uint64 // offset of the next byte that no block in memory has
	first, end uint64
	rest       []byte // bytes that Read has not returned yet
}

// A fileLevel is a node whose children were not all read.
type fileLevel struct {
	links links
	sizes sizes
	bytes int
}

// Read returns bytes of blocks that were verified.
func (f *fileReader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.at >= f.end {
			return 0, io.EOF
		}
		if err := f.advance(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// advance reads the next child of the last level.
func (f *fileReader) advance() error {
	if len(f.levels) == 0 {
		return fetch.Truncated.Errorf("the blocks end before the file")
	}
	last := &f.levels[len(f.levels)-1]
	l, ok, err := last.links.next()
	if err != nil {
		return err
	}
	if !ok {
		f.held -= last.bytes
		f.levels = f.levels[:len(f.levels)-1]
		return nil
	}
	size, _, err := last.sizes.next() // there is one for each link
	if err != nil {
		return err
	}
	if size == 0 || f.at+size <= f.first {
		f.at += size
		return nil
	}
	block, err := f.get(l.cid)
	if err != nil {
		return missingPart(err)
	}
	e, err := newEntity(l.cid, block)
	if err != nil {
		return err
	}
	if !e.isFile() || e.size != size {
		return fetch.Mismatch.Errorf("the block %s is not the part of the file that its parent describes", l.cid)
	}
	return f.push(e)
}

// push reads the bytes in the block of a file, and later its children.
func (f *fileReader) push(e entity) error {
	f.emit(e.data)
	if e.links == 0 {
		return nil
	}
	f.held += len(e.block)
	if len(f.levels) == maxDepth || f.held > maxHeld {
		return fetch.TooLarge.Errorf("the blocks of the file are nested too deeply")
	}
	f.levels = append(f.levels, fileLevel{links{e.block}, e.sizes(), len(e.block)})
	return nil
}

// emit selects the bytes of data, which starts at f.at, that are in the range.
func (f *fileReader) emit(data []byte) {
	n := uint64(len(data))
	from := min(max(f.first, f.at)-f.at, n)
	to := max(min(max(f.end, f.at)-f.at, n), from)
	f.rest = data[from:to]
	f.at += n
}

// missingPart returns the error for a block that the gateway does not have
// although it had the blocks above it. Another attempt may find the block.
func missingPart(err error) error {
	if fetch.FaultOf(err) == fetch.NotFound {
		return fetch.Truncated.Errorf("the gateway does not have a block of the object: %w", err)
	}
	return err
}
