package console

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestHold checks how long a forced exit waits for data that can be saved.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name  string
		holds []time.Duration // times until release is called, from the start
		want  time.Duration
	}{
		{"nothing to save", nil, 0},
		{"saved at once", []time.Duration{0}, 0},
		{"saved after a second", []time.Duration{time.Second}, time.Second + shutdownTime},
		{"two files", []time.Duration{time.Second, 5 * time.Second}, 5*time.Second + shutdownTime},
		{"never saved", []time.Duration{time.Hour}, holdTime},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := &Interrupts{}
				for _, after := range c.holds {
					time.AfterFunc(after, i.Hold())
				}
				synctest.Wait()
				start := time.Now()
				i.waitForRelease()
				if got := time.Since(start); got != c.want {
					t.Errorf("waited %v, want %v", got, c.want)
				}
			})
		})
	}
}

// TestHoldAgain checks that the exit also waits for data that the command holds
// after it has saved the first.
func TestHoldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := &Interrupts{}
		release := i.Hold()
		time.AfterFunc(time.Second, func() {
			release()
			time.AfterFunc(3*time.Second, i.Hold())
		})
		start := time.Now()
		i.waitForRelease()
		if got, want := time.Since(start), 4*time.Second+shutdownTime; got != want {
			t.Errorf("waited %v, want %v", got, want)
		}
	})
}
