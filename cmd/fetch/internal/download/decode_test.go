package download_test

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
)

// yenc encodes a part of a file.
func yenc(file []byte, part, total, first, end int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "=ybegin part=%d total=%d line=128 size=%d name=a.bin\r\n=ypart begin=%d end=%d\r\n", part, total,
		len(file), first+1, end)
	for i, c := range file[first:end] {
		switch c += 42; c {
		case 0, '\r', '\n', '=':
			b.WriteByte('=')
			c += 64
		}
		if b.WriteByte(c); i%128 == 127 {
			b.WriteString("\r\n")
		}
	}
	fmt.Fprintf(&b, "\r\n=yend size=%d part=%d pcrc32=%08x\r\n", end-first, part, crc32.ChecksumIEEE(file[first:end]))
	return b.String()
}

// TestDecode decodes a file that was posted in parts to an INN server.
func TestDecode(t *testing.T) {
	s := peer.INN(t, peer.INNOptions{Groups: []string{"local.test"}})
	file := commandtest.RandomBytes(5000)
	post := func(n int, body string) {
		s.Feed(fmt.Sprintf("Path: test\r\nFrom: a@b.example\r\nNewsgroups: local.test\r\nSubject: a.bin (%d)\r\n"+
			"Message-ID: <%d@test.example>\r\nDate: Fri, 20 Nov 2026 10:00:00 +0000\r\n\r\n%s", n, n, body))
	}
	post(1, yenc(file, 1, 3, 0, 2000))
	post(2, "nice one\r\n")
	post(3, yenc(file, 2, 3, 2000, 4000))
	post(4, yenc(file, 3, 3, 4000, 5000))
	group := "nntp://" + s.Addr + "/local.test/"
	if got := commandtest.Run(t, 0, "--decode", group+"1-4"); got != string(file) {
		t.Errorf("got %d bytes, want %d", len(got), len(file))
	}
	if got := commandtest.Run(t, 0, "--decode", group+"3"); got != string(file[2000:4000]) {
		t.Errorf("one part: got %d bytes", len(got))
	}
	var out, stderr bytes.Buffer
	app.Run([]string{"--no-config", "--decode", group + "3"}, strings.NewReader(""), &out, &stderr)
	commandtest.Contains(t, stderr.String(), "a part of a.bin: bytes 2000 to 4000 of 5000")
	commandtest.Run(t, 8, "--decode", group+"2")    // an article without a file
	commandtest.Run(t, 11, "--decode", group+"1-3") // the last part is missing
	commandtest.Run(t, 11, "--decode", group+"3-4") // the first part is missing
	commandtest.Run(t, 11, "--decode", group+"1-2")
}
