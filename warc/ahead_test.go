package warc

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// describe reads all records from in, and returns all results as text.
func describe(in recordReader, skip func(n int) bool) string {
	var b strings.Builder
	for n := 0; n < 100; n++ {
		h, err := in.Next()
		if err != nil {
			fmt.Fprintf(&b, "next: %v\n", err)
			if err == io.EOF || !strings.Contains(err.Error(), "offset") {
				_, again := in.Next()
				fmt.Fprintf(&b, "again: %v\n", again)
				return b.String()
			}
			continue
		}
		fmt.Fprintf(&b, "%s at %d, %d bytes\n", h.ID(), h.Offset, h.Length)
		if skip(n) {
			continue
		}
		var block bytes.Buffer
		_, err = io.Copy(&block, struct{ io.Reader }{readerOf(in)})
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		length, err := in.Finish()
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		stray, missing := in.ending()
		fmt.Fprintf(&b, "block %d, record %d, %d stray, %v\n", crc(block.Bytes()), length, stray, missing)
	}
	return b.String()
}

func crc(p []byte) (sum int) {
	for _, c := range p {
		sum = (sum*31 + int(c)) & 0xffffff
	}
	return sum
}

// readerOf returns a reader of the current block, also for an aheadReader.
func readerOf(in recordReader) io.Reader {
	to, ok := in.(io.WriterTo)
	if !ok {
		return in
	}
	var block bytes.Buffer
	to.WriteTo(&block)
	if _, err := in.Finish(); err != nil {
		return io.MultiReader(&block, iotest.ErrReader(err))
	}
	return &block
}

// TestAheadReader compares an aheadReader with a Reader, for intact and damaged
// files and for files that cannot be read.
func TestAheadReader(t *testing.T) {
	var texts []string
	for i := range 12 {
		texts = append(texts, rec(i, "WARC-Type: metadata\r\n", strings.Repeat(fmt.Sprint(i), i*i*600)))
	}
	intact := members(texts...)
	files := map[string]io.ReadSeeker{
		"intact":       bytes.NewReader(intact),
		"empty":        bytes.NewReader(nil),
		"truncated":    bytes.NewReader(intact[:len(intact)-100]),
		"uncompressed": strings.NewReader(strings.Join(texts, "")),
		"disk error":   errorAfter{bytes.NewReader(intact), 3000},
	}
	random := rand.New(rand.NewPCG(1, 2))
	flips := 25
	if testing.Short() {
		flips = 5
	}
	for i := range flips {
		damaged := bytes.Clone(intact)
		damaged[random.IntN(len(damaged))] ^= 1 << random.IntN(8)
		files[fmt.Sprint("damage ", i)] = bytes.NewReader(damaged)
	}
	for name, file := range files {
		for _, skip := range []func(int) bool{func(int) bool { return false }, func(n int) bool { return n%2 == 1 }} {
			file.Seek(0, io.SeekStart)
			want := describe(NewReader(file), skip)
			file.Seek(0, io.SeekStart)
			a := newAheadReader(NewReader(file))
			got := describe(a, skip)
			a.close()
			if got != want {
				t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
			}
		}
	}
}

// errorAfter is a file whose bytes after a limit cannot be read.
type errorAfter struct {
	*bytes.Reader
	limit int64
}

func (e errorAfter) Read(p []byte) (int, error) {
	at := e.Size() - int64(e.Len())
	if at >= e.limit {
		return 0, iotest.ErrTimeout
	}
	return e.Reader.Read(p[:min(int64(len(p)), e.limit-at)])
}

// TestAheadReaderClose ends the reading early.
func TestAheadReaderClose(t *testing.T) {
	file := members(strings.Repeat(rec(1, "WARC-Type: metadata\r\n", strings.Repeat("x", 1<<20)), 3))
	for _, n := range []int{0, 1, 2} {
		a := newAheadReader(NewReader(bytes.NewReader(file)))
		for range n {
			if _, err := a.Next(); err != nil {
				t.Fatal(err)
			}
		}
		a.close()
	}
}
