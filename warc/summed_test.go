package warc

import (
	"crypto/sha1"
	"io"
	"strings"
	"testing"
)

// A countedBlock is a summedBlock with SHA-1 sums. It counts the bytes that are
// read.
type countedBlock struct {
	io.ReadSeeker
	block, payload []byte
	read           int
}

func (b *countedBlock) Read(p []byte) (int, error) {
	n, err := b.ReadSeeker.Read(p)
	b.read += n
	return n, err
}

func (b *countedBlock) Sums(a Algorithm) (block, payload []byte) {
	if a != SHA1 {
		return nil, nil
	}
	return b.block, b.payload
}

// TestSummedBlock writes a block whose digests are known. The Writer reads it once,
// unless the digests have another algorithm.
func TestSummedBlock(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	body := strings.Repeat("0123456789abcdef", 1<<16)
	block, payload := sha1.Sum([]byte(head+body)), sha1.Sum([]byte(body))
	for _, a := range []Algorithm{SHA1, SHA256} {
		var positions []Position
		var read []int
		for _, known := range []bool{false, true} {
			opts := testOptions()
			opts.Digest = a
			dir := testFolder(t)
			w := testWriter(t, dir, opts)
			b := &countedBlock{ReadSeeker: strings.NewReader(head + body)}
			if known {
				b.block, b.payload = block[:], payload[:]
			}
			positions = append(positions, mustWrite(t, w, at("http://h.example/", 0).Response(b))...)
			read = append(read, b.read)
			w.Close()
			for f, err := range Verify(dir.Name() + "/" + positions[len(positions)-1].File) {
				t.Error(f, err)
			}
		}
		if positions[0] != positions[1] {
			t.Errorf("algorithm %d: got %+v, want %+v", a, positions[1], positions[0])
		}
		if saved := read[0] - read[1]; (saved > len(body)/2) != (a == SHA1) {
			t.Errorf("algorithm %d: %d bytes read, %d with known digests", a, read[0], read[1])
		}
	}
}
