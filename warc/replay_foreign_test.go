package warc

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// digestOf returns the SHA-1 digest of text in the form of a WARC field.
func digestOf(text string) string {
	d := newDigester(SHA1, Resource)
	d.Write([]byte(text))
	return d.Block()
}

// openBytes opens an archive that consists of one file with the given name.
func openBytes(t *testing.T, name string, content []byte) *Archive {
	t.Helper()
	dir := testFolder(t)
	if err := dir.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	a, err := Open(filepath.Join(dir.Name(), name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	a.Decode = true
	return a
}

// TestReplayDigests replays captures whose payload digest other programs
// computed.
func TestReplayDigests(t *testing.T) {
	const chunks = "5\r\nhello\r\n0\r\n\r\n"
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked"
	for _, tc := range []struct {
		name, digest, block string
		err                 error
	}{
		{"digest of the entity", digestOf("hello"), answer(head, chunks), nil},
		{"digest of the chunks", digestOf(chunks), answer(head, chunks), nil},
		{"digest of the chunks and of the bytes after them", digestOf(chunks + "x"), answer(head, chunks+"x"), nil},
		{"stored without chunks", digestOf("hello"), answer(head, "hello"), nil},
		{"wrong digest", digestOf("other"), answer(head, chunks), fetch.Mismatch},
		{"wrong digest without chunks", digestOf(chunks), answer(head, "hello"), fetch.Mismatch},
	} {
		text := web(1, "\nWARC-Payload-Digest: "+tc.digest, tc.block)
		body, err := replayText(t, openBytes(t, "a.warc", []byte(text)), "http://h.example/")
		if body != "hello" || !errors.Is(err, tc.err) {
			t.Errorf("%s: got %q, %v", tc.name, body, err)
		}
	}
}
