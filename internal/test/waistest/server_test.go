package waistest

import (
	"bytes"
	"testing"
)

// TestRecorded checks that the server responds to each recorded request with
// the recorded bytes.
func TestRecorded(t *testing.T) {
	s := FreeWAIS(t)
	for _, file := range Recordings(t) {
		session := s.Session()
		for _, e := range Recorded(t, file) {
			got, ok := session.Answer(e.Request)
			if ok == (len(e.Answer) == 0) || !bytes.Equal(got, e.Answer) {
				t.Errorf("%s: %s: ok is %v\n%q, recorded\n%q", file, e.Title, ok, got, e.Answer)
			}
		}
	}
}
