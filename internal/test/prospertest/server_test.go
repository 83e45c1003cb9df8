package prospertest

import (
	"bytes"
	"testing"
)

// TestRecorded: the server replies to each recorded datagram with dirsrv's
// bytes, in the same order.
func TestRecorded(t *testing.T) {
	for _, file := range Recordings(t) {
		s := Dirsrv(t)
		var due [][]byte
		for i, d := range Recorded(t, file) {
			if d.Client {
				for _, p := range due {
					if file != "04-loss.hex" || !bytes.HasPrefix(p, []byte{7, 0x41, 0x11, 0, 3}) { // the dropped datagram
						t.Errorf("%s: datagram %d: %q was never recorded", file, i, p)
					}
				}
				due = s.Answer(d.Bytes)
				continue
			}
			if file == "04-loss.hex" && len(due) > 0 && bytes.HasPrefix(due[0], []byte{7, 0x41, 0x11, 0, 3}) {
				due = due[1:]
			}
			if len(due) == 0 || !bytes.Equal(due[0], d.Bytes) {
				t.Errorf("%s: datagram %d:\nanswered %.200q\nrecorded %.200q", file, i, due, d.Bytes)
				break
			}
			due = due[1:]
		}
		if len(due) > 0 {
			t.Errorf("%s: %d datagrams too many", file, len(due))
		}
	}
}
