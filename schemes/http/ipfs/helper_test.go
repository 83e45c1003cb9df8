package ipfs

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/anyurl/fetch/fetch/trace"
)

// traceSent returns a Trace that appends the sent bytes to sent.
func traceSent(sent *[]byte) *trace.Trace {
	return &trace.Trace{Sent: func(p []byte) { *sent = append(*sent, p...) }}
}

// pb returns a field of a protocol buffer. Its value is a number or bytes.
func pb(number uint64, value any) []byte {
	switch v := value.(type) {
	case []byte:
		return append(binary.AppendUvarint([]byte{byte(number<<3 | bytesWire)}, uint64(len(v))), v...)
	case string:
		return pb(number, []byte(v))
	case uint64:
		return binary.AppendUvarint([]byte{byte(number << 3)}, v)
	}
	panic(value)
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// binaryOf returns a binary identifier of version 1.
func binaryOf(c cid) []byte {
	b := []byte{1}
	for _, v := range []uint64{c.codec, c.hash, uint64(len(c.digest))} {
		b = binary.AppendUvarint(b, v)
	}
	return append(b, c.digest...)
}

// blocks are the blocks of a test by their identifiers.
type blocks struct {
	order []cid
	all   map[cid][]byte
}

// add adds a block.
func (b *blocks) add(codec uint64, block []byte) cid {
	sum := sha256.Sum256(block)
	c := cid{codec, sha256Hash, string(sum[:])}
	if b.all == nil {
		b.all = map[cid][]byte{}
	}
	b.all[c] = block
	b.order = append(b.order, c)
	return c
}

func (b *blocks) raw(text string) cid { return b.add(rawCodec, []byte(text)) }

// linkTo returns a link of a dag-pb block.
func linkTo(name string, c cid, size uint64) []byte {
	return pb(2, join(pb(1, binaryOf(c)), pb(2, name), pb(3, size)))
}

// node adds a dag-pb block with the fields of UnixFS data.
func (b *blocks) node(links []byte, fields ...[]byte) cid {
	return b.add(dagPBCodec, join(links, pb(1, join(fields...))))
}

func kind(k uint64) []byte { return pb(1, k) }

// file adds a file with the given parts.
func (b *blocks) file(parts ...cid) cid {
	var links, sizes []byte
	total := uint64(0)
	for _, c := range parts {
		n := uint64(len(b.all[c]))
		if c.codec == dagPBCodec {
			e, err := newEntity(c, b.all[c])
			if err != nil {
				panic(err)
			}
			n = e.size
		}
		links, sizes, total = append(links, linkTo("", c, n)...), append(sizes, pb(4, n)...), total+n
	}
	return b.node(links, kind(fileType), pb(3, total), sizes)
}

// dir adds a directory with one entry.
func (b *blocks) dir(name string, c cid) cid {
	return b.node(linkTo(name, c, 1), kind(directoryType))
}

// shard adds a shard with the given links.
func (b *blocks) shard(links ...[]byte) cid {
	return b.node(join(links...), kind(shardType), pb(5, uint64(murmur3)), pb(6, uint64(256)))
}

const carHeader = "\x11\xa2\x65roots\x80\x67version\x01"

// section returns a block as a part of a CAR file.
func section(id, block []byte) []byte {
	return append(append(binary.AppendUvarint(nil, uint64(len(id)+len(block))), id...), block...)
}

// car returns a CAR file with blocks.
func (b *blocks) car(order ...cid) []byte {
	all := []byte(carHeader)
	for _, c := range order {
		all = append(all, section(binaryOf(c), b.all[c])...)
	}
	return all
}

// A fake is a gateway with blocks. Its functions replace its responses.
type fake struct {
	*httptest.Server
	blocks
	onCAR, onRaw func(w http.ResponseWriter, r *http.Request, c cid)
	requests     atomic.Int32
}

func newFake(t testing.TB) *fake {
	f := &fake{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		_, text, _ := strings.Cut(r.URL.Path, "/ipfs/")
		text, _, _ = strings.Cut(text, "/")
		c, _, err := parseText(text)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, media := f.onRaw, rawMedia
		if r.URL.Query().Get("format") == "car" {
			answer, media = f.onCAR, carMedia
		}
		w.Header().Set("Content-Type", media)
		if answer != nil {
			answer(w, r, c)
			return
		}
		f.serve(w, media, c)
	}))
	t.Cleanup(f.Close)
	return f
}

// serve sends a block, or no CAR file.
func (f *fake) serve(w http.ResponseWriter, media string, c cid) {
	block, ok := f.all[c]
	switch {
	case media == carMedia:
		w.WriteHeader(http.StatusNotAcceptable)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Write(block)
	}
}

// send returns an answer with fixed bytes.
func send(parts ...[]byte) func(w http.ResponseWriter, r *http.Request, c cid) {
	return func(w http.ResponseWriter, _ *http.Request, _ cid) { w.Write(join(parts...)) }
}

// status returns an answer with a status, a media type and a text.
func status(code int, media, text string) func(w http.ResponseWriter, r *http.Request, c cid) {
	return func(w http.ResponseWriter, _ *http.Request, _ cid) {
		w.Header().Set("Content-Type", media)
		if code/100 == 3 {
			w.Header().Set("Location", text)
		}
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

func url(c cid, path string) string { return fmt.Sprintf("ipfs://%s%s", c, path) }
