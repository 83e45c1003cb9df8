package warc

import "testing"

// TestDigester writes blocks byte by byte and compares both digests.
func TestDigester(t *testing.T) {
	for _, tc := range []struct {
		t       Type
		block   string
		payload string
	}{
		{Response, plainAnswer, helloSum},
		{Response, chunkedAnswer, SHA1.sum("hello world")},
		{Response, "no http", ""},
		{Resource, "hello", helloSum},
		{Metadata, "hello", ""},
		{Request, "GET / HTTP/1.1\r\n\r\n", emptySum},
	} {
		d := newDigester(SHA1, tc.t)
		for _, c := range []byte(tc.block) {
			d.Write([]byte{c})
		}
		if d.Block() != SHA1.sum(tc.block) || d.Payload() != tc.payload || d.Size() != int64(len(tc.block)) {
			t.Errorf("%s %q: got digests %s and %s, size %d", tc.t, tc.block, d.Block(), d.Payload(), d.Size())
		}
	}
}
