package faultnet

import (
	"bufio"
	"compress/flate"
	"io"
	"testing"
)

// TestDeflate exchanges lines before and inside the compressed connection. The
// client omits the last block.
func TestDeflate(t *testing.T) {
	each(t, func(t *testing.T, w world) {
		s := w.start(t, Script{Expect("^go\n$"), Send("plain\n"), Deflate(), Expect("^ping\n$"), Send("pong\n"), Send("again\n"), HalfClose()})
		conn := s.connect(t)
		io.WriteString(conn, "go\n")
		r := bufio.NewReader(conn)
		if line, err := r.ReadString('\n'); line != "plain\n" || err != nil {
			t.Fatalf("got %q, %v", line, err)
		}
		out, _ := flate.NewWriter(conn, 1)
		io.WriteString(out, "ping\n")
		out.Flush()
		if got, err := io.ReadAll(flate.NewReader(r)); string(got) != "pong\nagain\n" || err != io.ErrUnexpectedEOF {
			t.Errorf("got %q, %v", got, err)
		}
		conn.Close()
		if got := string(s.Conns()[0].All()); got != "go\nping\n" {
			t.Errorf("record %q", got)
		}
		s.Close()
		if err := s.Err(); err != nil {
			t.Error(err)
		}
	})
}
