package nntp

import (
	"bytes"
	"compress/flate"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/fetch"
)

func compress(t testing.TB, level int, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sampleTexts returns texts that are compressed with each type of block.
func sampleTexts() map[string][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	letters := make([]byte, 100_000)
	for i := range letters {
		letters[i] = "abcdefgh \n"[min(9, int(r.ExpFloat64()*2))]
	}
	return map[string][]byte{
		"empty":    nil,
		"one byte": []byte("x"),
		"zeros":    make([]byte, 1<<18),
		"noise":    noise,
		"letters":  letters,
		"lines":    bytes.Repeat([]byte("7\tsubject\tfrom <a@example.org>\tdate\t<7@example.org>\r\n"), 3000),
	}
}

func TestInflate(t *testing.T) {
	for name, text := range sampleTexts() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, 1, 9} {
			packed := compress(t, level, text)
			for reader, wrap := range map[string]func(io.Reader) io.Reader{
				"complete reads":    func(r io.Reader) io.Reader { return r },
				"one byte per read": iotest.OneByteReader,
				"data with EOF":     iotest.DataErrReader,
			} {
				got, err := io.ReadAll(newInflater(wrap(bytes.NewReader(packed))))
				if err != nil || !bytes.Equal(got, text) {
					t.Errorf("%s, level %d, %s: got %d bytes, %v, want %d", name, level, reader, len(got), err, len(text))
				}
			}
			got, err := io.ReadAll(newInflater(bytes.NewReader(packed[:len(packed)-1])))
			if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.HasPrefix(text, got) {
				t.Errorf("%s, level %d, truncated: got %d bytes, %v", name, level, len(got), err)
			}
		}
	}
}

// TestInflatePartialFlush tests that a response with a partial flush at the end
// is available before the next byte arrives. The samples end with different
// types of blocks and different numbers of withheld bits.
func TestInflatePartialFlush(t *testing.T) {
	texts := []string{"211 2 1 2 local.test\r\n"}
	packed := []string{"32323454305200e19cfce4c41cbd92d4e2125e2e8000"} // from INN 2.7.1
	expectBeforeNext(t, texts, packed)

	file, err := os.ReadFile("testdata/partial-flush.hex")
	if err != nil {
		t.Fatal(err)
	}
	packed = strings.Fields(string(file[bytes.IndexByte(file, '\n'):]))
	texts = nil
	for i := range packed {
		text := ""
		for k := range i*2 + 1 {
			text += fmt.Sprintf("%d\tRe: subject %d\tuser%d@example.org\r\n", i*100+k, (i*7919+k*104729)%100003, (i*31+k*k)%977)
		}
		texts = append(texts, text)
	}
	expectBeforeNext(t, texts, packed)
}

// expectBeforeNext checks that each text is available before the server sends
// the next text.
func expectBeforeNext(t *testing.T, texts, packed []string) {
	client, server := net.Pipe()
	defer client.Close()
	client.SetReadDeadline(time.Now().Add(5 * time.Minute))
	z := newInflater(client)
	for i, text := range texts {
		b, err := hex.DecodeString(packed[i])
		if err != nil {
			t.Fatal(err)
		}
		go server.Write(b)
		got := make([]byte, len(text))
		if n, err := io.ReadFull(z, got); err != nil || string(got) != text {
			t.Fatalf("response %d: got %q, %v, want %q", i, got[:n], err, text)
		}
	}
}

func TestInflateCorrupt(t *testing.T) {
	for name, text := range map[string]string{
		"reserved block":                 "\x07",
		"wrong length of a stored block": "\x01\x01\x00\x01\x00x",
		"distance before the start":      "\x03\x02\x00",
		"too many literal codes":         "\xfd\xff\xff\xff",
		"oversubscribed code":            "\x05\xe0\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		if got, err := io.ReadAll(newInflater(bytes.NewReader([]byte(text)))); !errors.Is(err, fetch.Protocol) &&
			!errors.Is(err, io.ErrUnexpectedEOF) || err == nil {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestStoredBlocks(t *testing.T) {
	for _, n := range []int{0, 1, 1<<16 - 1, 1 << 16, 200_000} {
		text := bytes.Repeat([]byte("a"), n)
		packed := append(storedBlocks(nil, text), 1, 0, 0, 0xff, 0xff) // the last block
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("%d: got %d bytes, %v", n, len(got), err)
		}
	}
}

// FuzzInflate checks that an inflater and compress/flate return the same bytes
// and reject the same inputs.
func FuzzInflate(f *testing.F) {
	for _, text := range sampleTexts() {
		f.Add(compress(f, 9, text[:min(len(text), 500)]))
	}
	f.Add(storedBlocks(nil, []byte("GROUP x\r\n")))
	f.Fuzz(func(t *testing.T, packed []byte) {
		want, wantErr := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 1<<20))
		got, err := io.ReadAll(io.LimitReader(newInflater(bytes.NewReader(packed)), 1<<20))
		// For a rejected input, the numbers of bytes before the error may
		// differ. The inflater does not wait for the end of the stream, and it
		// immediately rejects a block without an end code.
		same := bytes.Equal(got, want) || err != nil && (bytes.HasPrefix(got, want) || bytes.HasPrefix(want, got))
		if (err == nil) != (wantErr == nil) || !same {
			t.Errorf("got %d bytes, %v, want %d bytes, %v", len(got), err, len(want), wantErr)
		}
	})
}

func BenchmarkInflate(b *testing.B) {
	text := sampleTexts()["letters"]
	packed := compress(b, 6, text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		io.Copy(io.Discard, newInflater(bytes.NewReader(packed)))
	}
}
