package warc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
)

// zstdRecords returns similar records with large enough blocks for a dictionary.
func zstdRecords(n int) []string {
	records := make([]string, n)
	for i := range records {
		page := fmt.Sprintf("<html><head><title>Page %d</title></head><body><h1>Section %d of the manual</h1><p>The value is %d.</p></body></html>", i, i*7, i*i)
		records[i] = rec(i, fmt.Sprintf("WARC-Type: resource\r\nWARC-Target-URI: http://h.example/%d\r\nContent-Type: text/html", i), page)
	}
	return records
}

// A zstdFile is a file that Debian's zstd has compressed.
type zstdFile struct {
	name       string
	dictionary string // option for the dictionary frame: none, raw, compressed
	file       []byte
}

// compressWithZstd compresses the records with Debian's zstd, each in a frame of
// its own.
func compressWithZstd(t *testing.T, records []string) (files []zstdFile) {
	t.Helper()
	program := peer.Need(t, "zstd", "zstd")
	dir := t.TempDir()
	var names []string
	for i, r := range records {
		name := filepath.Join(dir, fmt.Sprintf("%03d", i))
		if err := os.WriteFile(name, []byte(r), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	dictionary := filepath.Join(dir, "dictionary")
	output(t, program, append([]string{"-q", "--train", "--maxdict=4096", "-o", dictionary}, names...)...)
	raw, err := os.ReadFile(dictionary)
	if err != nil {
		t.Fatal(err)
	}
	plain := output(t, program, append([]string{"-q", "-c"}, names...)...)
	with := output(t, program, append([]string{"-q", "-c", "-D", dictionary}, names...)...)
	if len(with) >= len(plain)*2/3 {
		t.Errorf("the records have %d bytes with and %d without a dictionary", len(with), len(plain))
	}
	return []zstdFile{
		{"none.warc.zst", "none", plain},
		{"raw.warc.zst", "raw", append(skippable(0x5d, raw), with...)},
		{"compressed.warc.zst", "compressed", append(skippable(0x5d, output(t, program, "-q", "-c", dictionary)), with...)},
	}
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// skippable returns a skippable frame.
func skippable(kind byte, data []byte) []byte {
	frame := []byte{kind, 0x2a, 0x4d, 0x18}
	frame = binary.LittleEndian.AppendUint32(frame, uint32(len(data)))
	return append(frame, data...)
}

// TestZstdProgram reads, verifies, indexes, replays and packs files that
// Debian's zstd has compressed, with and without a dictionary.
func TestZstdProgram(t *testing.T) {
	records := zstdRecords(100)
	for _, c := range compressWithZstd(t, records) {
		t.Run(c.dictionary, func(t *testing.T) {
			checkZstdRecords(t, c.file, records)
			path := filepath.Join(t.TempDir(), c.name)
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			if found := findings(t, path); found != "" {
				t.Error(found)
			}
			a, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			want := map[string]string{"http://h.example/7": "Page 7<", "http://h.example/99": "Page 99<"}
			checkReplay(t, a, want)
			checkPacked(t, a, want)
		})
	}
}

// checkZstdRecords checks the records of a file, in sequence and at their
// offsets.
func checkZstdRecords(t *testing.T, file []byte, want []string) {
	t.Helper()
	r := NewReader(bytes.NewReader(file))
	for i, text := range want {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		for _, in := range []*Reader{r, NewReaderAt(bytes.NewReader(file), h.Offset)} {
			if in != r {
				if _, err := in.Next(); err != nil {
					t.Fatalf("record %d at %d: %v", i, h.Offset, err)
				}
			}
			body, err := io.ReadAll(in)
			if err != nil || len(body) == 0 || !strings.Contains(text, "\r\n\r\n"+string(body)+"\r\n\r\n") {
				t.Fatalf("record %d: got %q, %v", i, body, err)
			}
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last record: %v", err)
	}
}

// TestWriterZstd verifies that Debian's zstd and the Internet Archive's program
// warc read the files of a Writer, and that each frame has its content size and
// a checksum.
func TestWriterZstd(t *testing.T) {
	dir := testFolder(t)
	o := testOptions()
	o.Name = "x.warc.zst"
	if _, err := NewWriter(dir, o); !errors.Is(err, fetch.Usage) {
		t.Errorf("without a Compressor: %v", err)
	}
	var err error
	if o.Zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)); err != nil {
		t.Fatal(err)
	}
	w := testWriter(t, dir, o)
	large := strings.Repeat("hello ", 1<<20)
	for i := range 3 {
		c := at(fmt.Sprintf("http://h.example/%d", i), i)
		mustWrite(t, w, c.Response(text(plainAnswer)), c.Request(text("GET / HTTP/1.1\r\n\r\n")))
	}
	position := mustWrite(t, w, at("ftp://h.example/large", 4).Resource("text/plain", text(large)))[0]
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir.Name(), position.File)
	if found := findings(t, path); found != "" {
		t.Error(found)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frame := file[position.Offset:]
	if flags := frame[4]; flags>>6 == 0 && flags>>5&1 == 0 || flags&4 == 0 {
		t.Errorf("flags %#x of a frame, want the content size and a checksum", flags)
	}
	program := peer.Need(t, "zstd", "zstd")
	if plain := output(t, program, "-q", "-d", "-c", path); !bytes.Contains(plain, []byte(large)) {
		t.Errorf("zstd decompressed %d bytes", len(plain))
	}
	out, err := exec.Command(peer.NeedGowarc(t), "verify", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "valid=true") {
		t.Errorf("warc verify: %v\n%s", err, out)
	}
}

// encodeZstd compresses texts to frames.
func encodeZstd(t testing.TB, texts []string, opts ...zstd.EOption) (file []byte) {
	t.Helper()
	w, err := zstd.NewWriter(nil, append(opts, zstd.WithEncoderConcurrency(1))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		file = w.EncodeAll([]byte(text), file)
	}
	return file
}

// TestForeignZstd reads files with extension frames, with records in several
// frames, and with several records in a frame.
func TestForeignZstd(t *testing.T) {
	records := zstdRecords(3)
	frame := func(texts ...string) []byte { return encodeZstd(t, texts) }
	extension := skippable(0x50, []byte("padding"))
	for name, file := range map[string][]byte{
		"extension frames":      bytes.Join([][]byte{frame(records[0]), extension, extension, frame(records[1:]...), extension}, nil),
		"empty frames":          frame("", records[0], "", records[1], records[2], ""),
		"record in two frames":  frame(records[0][:len(records[0])-30], records[0][len(records[0])-30:], records[1], records[2]),
		"records in one frame":  frame(strings.Join(records, "")),
		"no dictionary is used": append(skippable(0x5d, []byte(dictionaryMagic+"unused")), frame(records...)...),
	} {
		t.Run(name, func(t *testing.T) {
			if name != "no dictionary is used" {
				checkForeign(t, file)
				return
			}
			if _, err := NewReader(bytes.NewReader(file)).Next(); err == nil {
				t.Error("the invalid dictionary is not reported")
			}
		})
	}
}

// checkForeign checks that a file has three intact records.
func checkForeign(t *testing.T, file []byte) {
	t.Helper()
	r := NewReader(bytes.NewReader(file))
	for i := range 3 {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if h.Target() != fmt.Sprintf("http://h.example/%d", i) {
			t.Errorf("got record %s", h.Target())
		}
	}
	if h, err := r.Next(); err != io.EOF {
		t.Errorf("got %+v, %v", h, err)
	}
}

// endlessBlocks returns an endless sequence of blocks that repeat one byte.
type endlessBlocks struct{}

func (endlessBlocks) Read(p []byte) (int, error) {
	block := []byte{byte(maxZstdBlock << 3 & 0xff), byte(maxZstdBlock >> 5 & 0xff), byte(maxZstdBlock >> 13 & 0xff), 'x'}
	block[0] |= 1 << 1
	n := 0
	for n+len(block) <= len(p) {
		n += copy(p[n:], block)
	}
	return n, nil
}

// TestHostileZstd verifies that hostile frames are reported, that later records
// are read, and that memory is limited.
func TestHostileZstd(t *testing.T) {
	records := zstdRecords(2)
	good := encodeZstd(t, records)
	const limit = 24 << 20
	for _, tc := range []struct {
		name  string
		input io.Reader
		want  string
		fault fetch.Fault
	}{
		{"window of 2 GiB", bytes.NewReader(append([]byte(zstdMagic+"\x00\xa8\x01\x00\x00"), good...)), "window of more than", fetch.Mismatch},
		{"content of an exbibyte", bytes.NewReader(append([]byte(zstdMagic+"\xe0\x00\x00\x00\x00\x00\x00\x00\x10\x01\x00\x00"), good...)), "window of more than", fetch.Mismatch},
		{"unknown dictionary", bytes.NewReader(append([]byte(zstdMagic+"\x21\x07\x05\x29\x00\x00hello"), good...)), "requires the dictionary 7", fetch.Mismatch},
		{"unknown dictionary with a long ID", bytes.NewReader(append([]byte(zstdMagic+"\x23\x07\x06\x05\x04\x05\x29\x00\x00hello"), good...)),
			"requires the dictionary 67438087", fetch.Mismatch},
		{"dictionary of 4 GiB", bytes.NewReader(append([]byte(dictionaryFrame+"\xff\xff\xff\xff"), good...)), "the limit is", fetch.Mismatch},
		{"dictionary that is a byte too large", bytes.NewReader(append([]byte(dictionaryFrame+"\x01\x00\x80\x00"), good...)), "the limit is", fetch.Mismatch},
		{"truncated dictionary of the maximum size", bytes.NewReader(append([]byte(dictionaryFrame+"\x00\x00\x80\x00"), good...)), "unexpected EOF", fetch.Truncated},
		{"dictionary that expands", bytes.NewReader(append(skippable(0x5d, encodeZstd(t, []string{strings.Repeat("x", 64<<20)})), good...)), "cannot be decompressed", fetch.Mismatch},
		{"dictionary of another format", bytes.NewReader(append(skippable(0x5d, []byte("text of a dictionary")), good...)), "contains no dictionary", fetch.Mismatch},
		{"truncated dictionary", strings.NewReader(dictionaryFrame + "\x00\x10\x00\x00abc"), "unexpected EOF", fetch.Truncated},
		{"truncated extension frame", strings.NewReader("\x50\x2a\x4d\x18\x00\x10\x00\x00abc"), "unexpected EOF", fetch.Truncated},
		{"reserved block", bytes.NewReader(append([]byte(zstdMagic+"\x00\x58\x07\x00\x00"), good...)), "invalid block", fetch.Mismatch},
		{"frame without end", io.MultiReader(strings.NewReader(zstdMagic+"\x00\x58"), endlessBlocks{}), "record header is larger", fetch.Mismatch},
		{"truncated frame", bytes.NewReader(good[:20]), "unexpected EOF", fetch.Truncated},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, seekable := tc.input.(*bytes.Reader)
			r := NewReader(tc.input)
			_, err := r.Next()
			var damage *Error
			if !errors.As(err, &damage) || !strings.Contains(err.Error(), tc.want) || fetch.FaultOf(err) != tc.fault {
				t.Errorf("got %v (%v), want %q", err, fetch.FaultOf(err), tc.want)
			}
			if seekable && tc.fault == fetch.Mismatch {
				for i := range records {
					h, err := r.Next()
					if errors.As(err, &damage) { // the frame in the dictionary frame
						h, err = r.Next()
					}
					if err != nil || h.Target() != fmt.Sprintf("http://h.example/%d", i) {
						t.Errorf("record %d: %+v, %v", i, h, err)
					}
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > limit {
				t.Errorf("allocated %d KiB", used>>10)
			}
		})
	}
}

// TestTruncatedZstdHeader truncates the longest header of a frame at each byte.
func TestTruncatedZstdHeader(t *testing.T) {
	head := zstdMagic + "\xc3" + "\x58" + "\x07\x00\x00\x00" + "\x05\x00\x00\x00\x00\x00\x00\x00"
	for size := len(zstdMagic); size < len(head); size++ {
		_, err := NewReader(strings.NewReader(head[:size])).Next()
		var damage *Error
		if !errors.As(err, &damage) || !damage.Truncated || fetch.FaultOf(err) != fetch.Truncated {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// TestDamagedZstd changes a byte of each position of a file. The records before
// and after the damage are read.
func TestDamagedZstd(t *testing.T) {
	file := encodeZstd(t, zstdRecords(3))
	for i := range file {
		if i < len(zstdMagic) {
			continue // the file is not recognized as compressed
		}
		damaged := bytes.Clone(file)
		damaged[i] ^= 0x41
		r, intact := NewReader(bytes.NewReader(damaged)), 0
		for n := 0; n < 20; n++ {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			var damage *Error
			if err == nil {
				_, err = r.Finish()
			}
			if err == nil {
				intact++
			} else if !errors.As(err, &damage) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
		if intact < 2 || intact > 3 {
			t.Errorf("byte %d: %d of 3 records are intact", i, intact)
		}
	}
}
