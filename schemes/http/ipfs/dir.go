package ipfs

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/anyurl/fetch/fetch"
)

const (
	murmur3   = 0x22  // the hash function of sharded directories
	maxFanout = 1024  // children of a shard
	maxBarren = 10000 // consecutive blocks of a directory without an entry
)

// An entity is the root block of a file or a directory.
type entity struct {
	node
	cid cid
}

// newEntity parses a verified block.
func newEntity(id cid, block []byte) (e entity, err error) {
	if id.codec == rawCodec {
		return entity{node{kind: fileType, data: block, size: uint64(len(block))}, id}, nil
	}
	n, err := parseNode(block)
	if err == nil && n.kind == shardType {
		err = n.checkShard()
	}
	if err != nil {
		return e, fetch.FaultOf(err).Errorf("block %s: %w", id, err)
	}
	return entity{n, id}, nil
}

func (e *entity) isFile() bool      { return e.kind == fileType || e.kind == rawType }
func (e *entity) isDirectory() bool { return e.kind == directoryType || e.kind == shardType }

// checkShard checks the properties of a shard of a directory (HAMT).
func (n *node) checkShard() error {
	if n.hashType != murmur3 {
		return fetch.Unsupported.Errorf("the hash function %#x of a sharded directory is not supported", n.hashType)
	}
	if n.fanout < 8 || n.fanout > maxFanout || n.fanout&(n.fanout-1) != 0 {
		return fetch.Protocol.Errorf("invalid number of children of a shard: %d", n.fanout)
	}
	return nil
}

// prefixWidth returns the number of hexadecimal digits before the names in a
// shard, or 0 for a directory that is not sharded.
func (n *node) prefixWidth() int {
	if n.kind != shardType {
		return 0
	}
	return len(fmt.Sprintf("%X", n.fanout-1))
}

// lookup returns the identifier of the entry of a directory with the given name.
func lookup(get getFunc, e entity, name string) (id cid, err error) {
	if e.kind == directoryType {
		found, err := findLink(e.block, name)
		return found.cid, err
	}
	hash, used := murmur(name), 0
	step := bits.TrailingZeros64(e.fanout)
	for {
		if used += step; used > 64 {
			return id, fetch.Protocol.Errorf("the shards of a directory are nested too deeply")
		}
		prefix := fmt.Sprintf("%0*X", e.prefixWidth(), hash>>(64-used)&(e.fanout-1))
		found, err := findLink(e.block, prefix+name)
		if fetch.FaultOf(err) != fetch.NotFound {
			return found.cid, err
		}
		if found, err = findLink(e.block, prefix); err != nil {
			return id, notFound(err, name)
		}
		if e, err = openShard(get, found.cid, e.fanout); err != nil {
			return id, err
		}
	}
}

// openShard reads a shard below another one with the given fanout.
func openShard(get getFunc, id cid, fanout uint64) (entity, error) {
	block, err := get(id)
	if err != nil {
		return entity{}, missingPart(err)
	}
	e, err := newEntity(id, block)
	if err == nil && (e.kind != shardType || e.fanout != fanout) {
		err = fetch.Protocol.Errorf("the block %s is not a shard of its directory", id)
	}
	return e, err
}

// findLink returns the first link of a block with the given name.
func findLink(block []byte, name string) (link, error) {
	all := links{block}
	for {
		l, ok, err := all.next()
		if err != nil {
			return l, err
		}
		if !ok {
			return l, notFound(fetch.NotFound, name)
		}
		if l.name == name {
			return l, nil
		}
	}
}

// notFound replaces an error with the Fault NotFound by one for the name.
func notFound(err error, name string) error {
	if fetch.FaultOf(err) == fetch.NotFound {
		return fetch.NotFound.Errorf("the directory has no entry %.200q", name)
	}
	return err
}

// A dirReader returns the entries of a directory and of its shards.
type dirReader struct {
	get    getFunc
	levels []dirLevel
	held   int // bytes of the blocks of levels
	barren int // blocks since the last entry
}

// A dirLevel is a directory or a shard whose links were not all read.
type dirLevel struct {
	links  links
	width  int // of the prefixes of names
	fanout uint64
	bytes  int
}

// next returns the next entry. It returns io.EOF after the last one.
func (d *dirReader) next() (link, error) {
	for len(d.levels) > 0 {
		last := &d.levels[len(d.levels)-1]
		l, ok, err := last.links.next()
		switch {
		case err != nil:
			return l, err
		case !ok:
			d.held -= last.bytes
			d.levels = d.levels[:len(d.levels)-1]
		case len(l.name) < last.width:
			return l, fetch.Protocol.Errorf("a link of a shard has no valid name")
		case len(l.name) > last.width || last.width == 0:
			l.name, d.barren = l.name[last.width:], 0
			return l, nil
		default:
			e, err := openShard(d.get, l.cid, last.fanout)
			if err != nil {
				return l, err
			}
			if err := d.push(e); err != nil {
				return l, err
			}
		}
	}
	return link{}, io.EOF
}

// push reads the links of a directory or a shard next.
func (d *dirReader) push(e entity) error {
	d.held += len(e.block)
	d.barren++
	if len(d.levels) == maxDepth || d.held > maxHeld || d.barren > maxBarren {
		return fetch.TooLarge.Errorf("the shards of the directory are nested too deeply, or have no entries")
	}
	d.levels = append(d.levels, dirLevel{links{e.block}, e.prefixWidth(), e.fanout, len(e.block)})
	return nil
}

// murmur returns the first half of the digest of MurmurHash3 x64 128 with the
// seed 0.
func murmur(text string) uint64 {
	const c1, c2 = 0x87c37b91114253d5, 0x4cf5ad432745937f
	var h1, h2 uint64
	b := []byte(text)
	for ; len(b) >= 16; b = b[16:] {
		h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(b)*c1, 31) * c2
		h1 = (bits.RotateLeft64(h1, 27)+h2)*5 + 0x52dce729
		h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(b[8:])*c2, 33) * c1
		h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + 0x38495ab5
	}
	var tail [16]byte
	copy(tail[:], b)
	h2 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[8:])*c2, 33) * c1
	h1 ^= bits.RotateLeft64(binary.LittleEndian.Uint64(tail[:])*c1, 31) * c2
	h1 ^= uint64(len(text))
	h2 ^= uint64(len(text))
	h1 += h2
	h2 += h1
	return mix(h1) + mix(h2)
}

// mix is the finalization of MurmurHash3.
func mix(k uint64) uint64 {
	k = (k ^ k>>33) * 0xff51afd7ed558ccd
	k = (k ^ k>>33) * 0xc4ceb9fe1a85ec53
	return k ^ k>>33
}
