package warc

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
)

// A warcioRecord has the properties of a record that FuzzWarcio compares.
type warcioRecord struct {
	Type, URL, ID, Media string
	Block                string // SHA-1 digest
}

// FuzzWarcio writes a file with two records. warcio, another library, must find
// the same records in this file. It writes them again, and this package must find
// the same records in that file.
func FuzzWarcio(f *testing.F) {
	node, library := peer.NeedModule(f, warcio, "warcio", "dist/index.js")
	read := startWarcio(f, node, library)
	f.Add("text/plain", "X-Y", "z", []byte("block"), []byte(""), true)
	f.Add("application/octet-stream", "WARC-Payload-Digest", "sha1:A", []byte("\r\n\r\nWARC/1.1\r\nContent-Length: 5\r\n\r\n"), []byte("\n"), false)
	f.Add("text/html; charset=utf-8", "X", "e", []byte("\r\n"), []byte("WARC/1.0\r\n"), true)
	f.Fuzz(func(t *testing.T, media, name, value string, first, second []byte, compressed bool) {
		if strings.TrimSpace(media) != media || media == "" || strings.HasPrefix(strings.ToUpper(name), "WARC-") ||
			strings.ContainsFunc(media+name+value, func(r rune) bool { return r < ' ' || r >= 0x7f }) {
			return
		}
		var file []byte
		var want []warcioRecord
		for n, block := range [][]byte{first, second} {
			r := at("gopher://h.example/", n).Resource(media, bytes.NewReader(block))
			r.ID, r.Fields = "urn:x:"+string(rune('1'+n)), fetch.Header{{Name: name, Value: value}}
			if r.validate() != nil {
				return
			}
			if _, err := r.setDigests(SHA256, nil); err != nil {
				t.Fatal(err)
			}
			text := string(r.appendHead(nil, "urn:x:0", nil)) + string(block) + "\r\n\r\n"
			if compressed {
				text = gzipped(text)
			}
			sum := sha1.Sum(block)
			file = append(file, text...)
			want = append(want, warcioRecord{"resource", "gopher://h.example/", r.ID, media, hex.EncodeToString(sum[:])})
		}
		got, copied := read(t, file)
		for n := range got {
			got[n].ID = trimBrackets(got[n].ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("warcio reads %+v, want %+v", got, want)
		}
		if got := warcioRecords(t, copied); !slices.Equal(got, want) {
			t.Errorf("read %+v from the file of warcio, want %+v", got, want)
		}
	})
}

// startWarcio starts a program that reads files with warcio. The result returns
// the records of a file, and a file with the same records that warcio has written.
func startWarcio(f *testing.F, node, library string) func(t *testing.T, file []byte) ([]warcioRecord, []byte) {
	c := exec.Command(node, "testdata/warciofuzz.mjs", library)
	in, err := c.StdinPipe()
	if err != nil {
		f.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	lines := bufio.NewReader(out)
	return func(t *testing.T, file []byte) ([]warcioRecord, []byte) {
		t.Helper()
		var answer struct {
			Records []warcioRecord
			Written []byte // in base64
		}
		_, err := io.WriteString(in, base64.StdEncoding.EncodeToString(file)+"\n")
		if err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &answer)
		}
		if err != nil {
			t.Fatalf("warcio: %v: %s", err, line)
		}
		return answer.Records, answer.Written
	}
}

// warcioRecords reads the records of a file with this package.
func warcioRecords(t *testing.T, file []byte) (all []warcioRecord) {
	t.Helper()
	r := NewReader(bytes.NewReader(file))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		block, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha1.Sum(block)
		all = append(all, warcioRecord{string(h.Type()), h.Target(), h.ID(), h.Get("Content-Type"), hex.EncodeToString(sum[:])})
	}
}
