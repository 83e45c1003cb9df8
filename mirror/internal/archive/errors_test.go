package archive

import (
	"errors"
	"io"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestFaults checks the faults of errors: of one error, and of two joined errors.
func TestFaults(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	full := fetch.DiskFull.Errorf("full")
	for _, c := range []struct {
		name      string
		err, more error
		fault     fetch.Fault // of the result of JoinDistinct, after Classify
		both      bool        // whether the result wraps both errors
	}{
		{"without a fault", plain, nil, fetch.Local, true},
		{"with a fault", full, nil, fetch.DiskFull, true},
		{"only the second", nil, full, fetch.DiskFull, true},
		{"same faults", full, fetch.DiskFull.Errorf("still full"), fetch.DiskFull, false},
		{"second without a fault, first local", fetch.Local.Errorf("local"), plain, fetch.Local, false},
		{"different faults", full, plain, fetch.DiskFull, true},
	} {
		got := Classify(JoinDistinct(c.err, c.more))
		if fault := fetch.FaultOf(got); fault != c.fault {
			t.Errorf("%s: fault %v, want %v", c.name, fault, c.fault)
		}
		wraps := func(err error) bool { return err == nil || errors.Is(got, err) }
		if both := wraps(c.err) && wraps(c.more); both != c.both {
			t.Errorf("%s: wraps both: %t, want %t", c.name, both, c.both)
		}
	}
	if err := Classify(JoinDistinct(nil, nil)); err != nil {
		t.Errorf("no errors: %v", err)
	}
}

// TestRestartError checks which errors discard a partial body, so that the object
// is retrieved again from its beginning.
func TestRestartError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		err      error
		restarts bool
	}{
		{"none", nil, false},
		{"object is missing", fetch.NotFound.Errorf("x"), true},
		{"object has changed", fetch.Mismatch.Errorf("x"), true},
		{"server sends other bytes", fetch.Protocol.Errorf("x"), true},
		{"connection was cut", fetch.Truncated.Errorf("x"), false},
		{"full disk", fetch.DiskFull.Errorf("x"), false},
		{"no fault", io.ErrUnexpectedEOF, false},
	} {
		if got := invalidatesPart(c.err); got != c.restarts {
			t.Errorf("%s: invalidates: %t, want %t", c.name, got, c.restarts)
		}
		got := restartError(c.err)
		if !errors.Is(got, c.err) || c.restarts && fetch.FaultOf(got) != fetch.Truncated || !c.restarts && got != c.err {
			t.Errorf("%s: got error %v for %v", c.name, got, c.err)
		}
	}
}

// TestMemory checks that all spools together have a limit, and that a released
// byte can be reserved again.
func TestMemory(t *testing.T) {
	t.Parallel()
	var m Memory
	for _, c := range []struct {
		name string
		n    int64 // bytes to reserve, or if negative, to release
		want bool
	}{
		{"more than the limit", maxMemory + 1, false},
		{"the limit", maxMemory, true},
		{"one more byte", 1, false},
		{"one byte is released", -1, true},
		{"two bytes", 2, false},
		{"the released byte", 1, true},
	} {
		got := true
		if c.n < 0 {
			m.Free(-c.n)
		} else {
			got = m.Reserve(c.n)
		}
		if got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}
