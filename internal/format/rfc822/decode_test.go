package rfc822

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/anyurl/fetch/fetch"
)

// allBytes returns data with every byte value and with sequences that are
// special in news and yEnc.
func allBytes() []byte {
	var b []byte
	for range 3 {
		for c := range 256 {
			b = append(b, byte(c))
		}
	}
	return append(b, "\r\n.\r\n..=\x00"...)
}

// noise returns 30,000 pseudo-random bytes. testdata has their second part.
func noise() []byte {
	b, x := make([]byte, 30_000), uint32(1)
	for i := range b {
		x = (x*1103515245 + 12345) & 0x7fffffff
		b[i] = byte(x >> 16)
	}
	return b
}

func TestDecodeEncoderOutput(t *testing.T) {
	for name, want := range map[string]File{
		"yenc.txt":       {Name: "all.bin", Size: 777},
		"uuencode.txt":   {Name: "a file.bin", Size: -1},
		"uuenview.txt":   {Name: "all.bin", Size: -1},
		"base64.txt":     {Name: "a file.bin", Size: -1},
		"yenc-part2.txt": {Name: "big.bin", Size: 30_000, Part: 2, Offset: 25_600},
	} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		body := allBytes()
		if want.Part > 0 {
			body = noise()[want.Offset:]
		}
		for _, ends := range []string{"\n", "\r\n"} {
			article := "Subject: x\n\nsome words\nbegin with\n" + string(text) + "more words\n"
			f, err := Decode(strings.NewReader(strings.ReplaceAll(article, "\n", ends)))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := io.ReadAll(f.Body)
			if err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s: got %d bytes, %v, want %d", name, len(got), err, len(body))
			}
			if f.Body = nil; *f != want {
				t.Errorf("%s: got %+v, want %+v", name, *f, want)
			}
		}
	}
}

func decode(text string) (*File, string, error) {
	f, err := Decode(iotest.HalfReader(strings.NewReader(text)))
	if err != nil {
		return nil, "", err
	}
	body, err := io.ReadAll(f.Body)
	return f, string(body), err
}

func TestDecode(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  string
		fault fetch.Fault
	}{
		"no encoded file":         {"words\n", "", fetch.NotFound},
		"empty":                   {"", "", fetch.NotFound},
		"begin in a sentence":     {"begin the work\nbegin 64x a\n", "", fetch.NotFound},
		"yenc":                    {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n=yend size=3 crc32=352441c2\n", "abc", 0},
		"name with spaces":        {"=ybegin line=128 size=0 name= \"a name=b\" \n=yend size=0\n", "", 0},
		"no end":                  {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n", "abc", fetch.Truncated},
		"end without newline":     {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n=yend size=3", "abc", 0},
		"wrong checksum":          {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n=yend size=3 crc32=352441c3\n", "abc", fetch.Mismatch},
		"checksum with zeros":     {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n=yend size=3 crc32=00000000352441C2\n", "abc", 0},
		"size too small":          {"=ybegin line=128 size=2 name=x\n\x8b\x8c\x8d\n=yend size=2\n", "", fetch.Mismatch},
		"size too large":          {"=ybegin line=128 size=4 name=x\n\x8b\x8c\x8d\n=yend size=3\n", "abc", fetch.Mismatch},
		"wrong size in trailer":   {"=ybegin line=128 size=3 name=x\n\x8b\x8c\x8d\n=yend size=4\n", "abc", fetch.Mismatch},
		"no size":                 {"=ybegin line=128 name=x\n\x8b\n=yend\n", "a", 0},
		"size out of range":       {"=ybegin line=128 size=99999999999999999999 name=x\n\x8b\n=yend\n", "a", 0},
		"escape over a line end":  {"=ybegin line=1 size=1 name=x\n=\n\xa1\n=yend size=1\n", "7", 0},
		"keyword in the data":     {"=ybegin line=1 size=1 name=x\n=yx\n", "", fetch.Protocol},
		"part without =ypart":     {"=ybegin part=1 line=1 size=1 name=x\n\x8b\n=yend size=1\n", "", fetch.Protocol},
		"part of negative length": {"=ybegin part=1 line=1 size=1 name=x\n=ypart begin=2 end=0\n", "", fetch.Protocol},
		"truncated before =ypart": {"=ybegin part=1 line=1 size=1 name=x\n", "", fetch.Truncated},
		"part of wrong length":    {"=ybegin part=1 line=1 size=9 name=x\n=ypart begin=1 end=2\n\x8b\n=yend size=2\n", "a", fetch.Mismatch},
		"CRC of complete file":    {"=ybegin part=1 line=1 size=9 name=x\n=ypart begin=1 end=1\n\x8b\n=yend size=1 crc32=1\n", "a", 0},
		"uuencode":                {"begin 644 x\n#86)C\n`\nend\n", "abc", 0},
		"uuencode, spaces lost":   {"begin 644 x\n#\n \nend\n", "\x00\x00\x00", 0},
		"uuencode, empty last":    {"begin 644 x\n#86)C\n\nend\n", "abc", 0},
		"uuencode, only an end":   {"begin 644 x\n#86)C\nend\n", "abc", 0},
		"uuencode, checksum":      {"begin 644 x\n#86)CX\n`\nend\n", "abc", 0},
		"uuencode, no end":        {"begin 644 x\n#86)C\n`\n", "abc", fetch.Truncated},
		"uuencode, words":         {"begin 644 x\n#86)C\n`\nwords\n", "abc", fetch.Protocol},
		"uuencode, bad byte":      {"begin 644 x\n#8{)C\n`\nend\n", "", fetch.Protocol},
		"uuencode, bad length":    {"begin 644 x\n~86)C\n`\nend\n", "", fetch.Protocol},
		"uuencode, long line":     {"begin 644 x\n#86)C86)C86)C\n`\nend\n", "", fetch.Protocol},
		"uuencode, longest line":  {"begin 644 x\n#" + strings.Repeat("8", 2*bufferSize) + "\nend\n", "", fetch.Protocol},
		"base64":                  {"begin-base64 644 x\nYWJj\n====\n", "abc", 0},
		"base64, words":           {"begin-base64 644 x\nYW J\n====\n", "", fetch.Protocol},
		"line without end":        {strings.Repeat("=ybegin size=1 name=x ", 10_000), "", fetch.NotFound},
	} {
		_, got, err := decode(c.text)
		if got != c.want || fetch.FaultOf(err) != c.fault {
			t.Errorf("%s: got %q, %v, want %q, %v", name, got, err, c.want, c.fault)
		}
	}
	f, _, _ := decode("=ybegin part=2 total=3 line=1 size=9 name= \"a name=b\" \n=ypart begin=4 end=3\n=yend size=0\n")
	if f.Name != "a name=b" || f.Part != 2 || f.Total != 3 || f.Offset != 3 || f.Size != 9 {
		t.Errorf("got %+v", f)
	}
}

// yencode encodes data as the yEnc draft describes.
func yencode(data []byte, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "=ybegin line=%d size=%d name=x\r\n", width, len(data))
	n := 0
	for _, c := range data {
		switch c += 42; c {
		case 0, '\n', '\r', '=', '.':
			b.WriteByte('=')
			c += 64
			n++
		}
		b.WriteByte(c)
		if n++; n >= width {
			b.WriteString("\r\n")
			n = 0
		}
	}
	fmt.Fprintf(&b, "\r\n=yend size=%d crc32=%08x\r\n", len(data), crc32.ChecksumIEEE(data))
	return b.String()
}

// FuzzYEnc checks that encoded data is decoded correctly. For other input, it
// checks that the file has the announced length or that Body returns an error.
func FuzzYEnc(f *testing.F) {
	f.Add(allBytes(), 128)
	f.Add([]byte("=ybegin part=1 line=1 size=9 name=x\n=ypart begin=1 end=2\n\x8b=\n=yend size=2 pcrc32=0\n"), 1)
	f.Add([]byte("begin 644 x\n#86)C\n`\nend\nbegin-base64 644 x\nYWJj\n====\n"), 7)
	f.Fuzz(func(t *testing.T, data []byte, width int) {
		_, got, err := decode(yencode(data, max(width, 1)))
		if err != nil || got != string(data) {
			t.Errorf("got %q, %v, want %q", got, err, data)
		}
		file, got, err := decode(string(data))
		if err == nil && file.Size >= 0 && file.Part == 0 && int64(len(got)) != file.Size || len(got) > 63*len(data) { // missing characters decode as zero bytes
			t.Errorf("%q: got %d bytes of %+v", data, len(got), file)
		}
	})
}

func BenchmarkYEnc(b *testing.B) {
	text := yencode(bytes.Repeat(noise(), 25), 128)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f, err := Decode(strings.NewReader(text))
		if err == nil {
			_, err = io.Copy(io.Discard, f.Body)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestDecodeReadErrors(t *testing.T) {
	if _, err := Decode(iotest.ErrReader(fetch.Timeout)); !errors.Is(err, fetch.Timeout) {
		t.Errorf("got %v", err)
	}
	f, err := Decode(io.MultiReader(strings.NewReader("begin 644 x\n"), iotest.ErrReader(fetch.Timeout)))
	if err == nil {
		_, err = io.ReadAll(f.Body)
	}
	if !errors.Is(err, fetch.Timeout) {
		t.Errorf("got %v", err)
	}
}
