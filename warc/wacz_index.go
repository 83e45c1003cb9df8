package warc

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"mime"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tempfile"
	"github.com/anyurl/fetch/internal/format/linesort"
)

const (
	// largeIndex is the minimum size in bytes of an index that Pack compresses.
	// Replay software then reads one block for each URL instead of the entire
	// index.
	largeIndex = 1 << 20

	indexBlockLines = 1024    // lines in a block of a compressed index
	maxIndexBlock   = 1 << 20 // size of the lines in bytes after which a block ends
)

// addIndex writes the index of the archive to the WACZ file. A large index
// consists of gzip members in index.cdx.gz, and of index.idx, which has a line
// for each member.
func (z *packer) addIndex(a *Archive) error {
	lines := packedLines(linesort.Read(io.NewSectionReader(a.index, 0, a.size)))
	if a.size < largeIndex {
		return z.create("indexes/index.cdx", zip.Deflate, func(w io.Writer) error { return linesort.Write(w, lines) })
	}
	// A forged index can have lines of a megabyte, which the list repeats.
	list, err := tempfile.Create("", "fetch-index-*")
	if err != nil {
		return fetch.LocalError(err)
	}
	defer list.Close()
	blocks := &indexBlocks{list: bufio.NewWriter(list)}
	blocks.list.WriteString("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n")
	err = z.create("indexes/index.cdx.gz", zip.Store, func(w io.Writer) error { return blocks.write(w, lines) })
	if err == nil {
		_, err = list.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fetch.LocalError(err)
	}
	return z.add("indexes/index.idx", zip.Deflate, list)
}

// packedLines omits the lines of conversations and of responses with the status
// 304. They would prevent replay software from finding an object.
func packedLines(in linesort.Lines) linesort.Lines {
	return func(yield func([]byte, error) bool) {
		for text, err := range in {
			if err == nil {
				if l, err := ParseLine(string(text)); err == nil && (isConversation(l.Media) || isNotModified(l)) {
					continue
				}
			}
			if !yield(text, err) {
				return
			}
		}
	}
}

// isNotModified reports whether l describes a revisit record with an HTTP 304
// response. ReplayWeb.page replays such a record as a 304 response without a
// body, so that the browser shows nothing. Without the line, it replays the
// previous capture of the URL.
func isNotModified(l Line) bool { return l.Media == mediaRevisit && l.Status == "304" }

// isConversation reports whether media is the type of a protocol log, in which
// Heritrix and earlier versions of this package record a conversation with a
// server. Records of earlier versions have lines in the index, with the URL and
// date of the object.
func isConversation(media string) bool {
	t, _, _ := mime.ParseMediaType(media)
	return strings.HasPrefix(t, "text/x-") && strings.HasSuffix(t, "-conversation")
}

// indexBlocks writes an index in blocks, each of which is a gzip member.
type indexBlocks struct {
	text   bytes.Buffer // lines of the current block
	lines  int          // number of lines in text
	prefix string       // key and timestamp of the first line in text
	offset int64        // size of all previous blocks, in bytes

	list *bufio.Writer // to a file with the lines of index.idx
}

func (b *indexBlocks) write(w io.Writer, lines linesort.Lines) error {
	for line, err := range lines {
		if err != nil {
			return err
		}
		if b.lines == 0 {
			prefix, _, _ := strings.Cut(string(line), " {")
			b.prefix = prefix
		}
		b.text.Write(line)
		if b.lines++; b.lines == indexBlockLines || b.text.Len() >= maxIndexBlock {
			if err := b.flush(w); err != nil {
				return err
			}
		}
	}
	if err := b.flush(w); err != nil {
		return err
	}
	return b.list.Flush()
}

// flush writes the current block as a gzip member.
func (b *indexBlocks) flush(w io.Writer) error {
	if b.lines == 0 {
		return nil
	}
	var member bytes.Buffer
	out := gzip.NewWriter(&member)
	out.Write(b.text.Bytes()) // cannot fail, because member is in memory
	out.Close()
	sum := sha256.Sum256(member.Bytes())
	place, err := json.Marshal(blockJSON{b.offset, int64(member.Len()), "sha256:" + hex.EncodeToString(sum[:])})
	if err != nil {
		return err
	}
	b.list.WriteString(b.prefix + " " + string(place) + "\n")
	b.offset += int64(member.Len())
	b.text.Reset()
	b.lines = 0
	_, err = w.Write(member.Bytes())
	return err
}

// blockJSON is the JSON object in a line of index.idx.
type blockJSON struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Digest string `json:"digest"` // digest of the gzip member
}
