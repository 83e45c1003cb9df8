package http1_test

import (
	"testing"

	"github.com/anyurl/fetch/internal/wire/http1"
)

// TestDecodedHead checks the heads of messages that are stored without their
// transfer coding.
func TestDecodedHead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, head, want string }{
		{
			"chunked", "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\nC: d\r\n\r\n",
			"HTTP/1.1 200 OK\r\nA: b\r\nX-Orig-Transfer-Encoding: chunked\r\nC: d\r\nContent-Length: 7\r\n\r\n",
		},
		{
			"two codings in two fields", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\nTRANSFER-ENCODING : chunked\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Orig-transfer-encoding: gzip\r\nX-Orig-TRANSFER-ENCODING : chunked\r\n" +
				"Content-Length: 7\r\n\r\n",
		},
		{
			"chunked with a length and a trailer",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nTrailer: T\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Orig-Transfer-Encoding: chunked\r\nX-Orig-Content-Length: 1\r\nX-Orig-Trailer: T\r\n" +
				"Content-Length: 7\r\n\r\n",
		},
		{
			"folded", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\nX: Trailer:\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Orig-Transfer-Encoding:\r\n chunked\r\nX: Trailer:\r\nContent-Length: 7\r\n\r\n",
		},
		{
			"bare LF", "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n",
			"HTTP/1.1 200 OK\nX-Orig-Transfer-Encoding: chunked\nContent-Length: 7\r\n\n",
		},
		{
			"no fields", "HTTP/1.1 200 OK\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n",
		},
	} {
		if got := string(http1.DecodedHead([]byte(c.head), 7)); got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
