package waistest

import (
	"bytes"
	"testing"
)

// TestRecorded: the server answers each request that was recorded as freeWAIS
// did, byte by byte.
func TestRecorded(t *testing.T) {
	s := FreeWAIS(t)
	for _, file := range Recordings(t) {
		session := s.Session()
		for _, e := range Recorded(t, file) {
			got, ok := session.Answer(e.Request)
			if ok == (len(e.Answer) == 0) || !bytes.Equal(got, e.Answer) {
				t.Errorf("%s: %s: answered %v\n%q, recorded\n%q", file, e.Title, ok, got, e.Answer)
			}
		}
	}
}
