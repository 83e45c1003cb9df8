package sftp

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// TestTimeLimit checks that pauses for the user do not count, and that they do not
// extend the time of the server.
func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ended := make(chan time.Duration, 1)
		l := newTimeLimit(func() { ended <- time.Since(begin) })
		l.start()
		const pauses, between = 5, 11 * time.Second
		for range pauses {
			time.Sleep(between) // the server is slow
			resume := l.pause()
			time.Sleep(time.Hour) // the user is slow
			resume()
		}
		if got, want := <-ended, pauses*time.Hour+sessions.ReplyTimeout; got != want || !l.expired.Load() {
			t.Errorf("ended after %v, want %v", got, want)
		}
		stop := l.start()
		time.Sleep(between)
		if !stop() || len(ended) > 0 {
			t.Error("the next operation has ended too early")
		}
	})
}
