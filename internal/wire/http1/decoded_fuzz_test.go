package http1_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// FuzzDecodedHead checks that a message with a decoded head has no transfer
// coding and one length.
func FuzzDecodedHead(f *testing.F) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: T\r\n\r\n",
		"\r\nHTTP/1.1 200 OK\nTRANSFER-ENCODING : gzip,\n chunked\nContent-Length: 1, 2\nContent-Length: 3\n\n",
		"HTTP/1.1 103 x\r\nTransfer-Encoding: chunked\r\n\r\nHTTP/1.1 200\r\n Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\r\n\r\n",
		"0\n\rTransfer-Encoding:0\n\n",
	} {
		f.Add(head)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parse := func(text []byte) (m http1.Message) {
			for len(text) > 0 && m.InHead() {
				n, _ := m.Next(text)
				text = text[n:]
			}
			return m
		}
		coded := parse([]byte(text))
		if coded.InHead() || !coded.TransferCoded() {
			return
		}
		head := http1.DecodedHead(coded.Head(), 5)
		if decoded := parse(head); decoded.InHead() || decoded.TransferCoded() || decoded.Length() != 5 {
			t.Errorf("head %q becomes %q", coded.Head(), head)
		}
	})
}
