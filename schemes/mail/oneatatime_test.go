package mail

import (
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch/trace"
)

// TestOneAtATime calls the functions of a Trace in several goroutines. The race
// detector finds calls of one function at the same time. A server can cause any
// number of notes, but only the first ones are passed on.
func TestOneAtATime(t *testing.T) {
	var sent, received, notes int
	both := oneAtATime(&trace.Trace{
		Sent:     func(p []byte) { sent += len(p) },
		Received: func(p []byte) { received += len(p) },
		Note:     func(string) { notes++ },
	})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				both.Sent([]byte("ab"))
				both.Received([]byte("abc"))
			}
		})
	}
	all.Wait()
	for range 1000 {
		both.Notef("message was deleted during the listing")
	}
	if sent != 1600 || received != 2400 || notes != maxNoted+1 {
		t.Errorf("%d bytes sent, %d received, %d notes", sent, received, notes)
	}
	if oneAtATime(nil) != nil || oneAtATime(&trace.Trace{}).Sent != nil {
		t.Error("a missing function was added")
	}
}
