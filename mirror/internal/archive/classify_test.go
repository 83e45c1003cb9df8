package archive

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// TestClassify checks that a class that comes from an error of the system is wrapped
// too, so that errors.Is finds it.
func TestClassify(t *testing.T) {
	for err, want := range map[error]fetch.Fault{
		syscall.ENOSPC: fetch.DiskFull, context.Canceled: fetch.Canceled, errors.New("unknown"): fetch.Local,
		fetch.Denied.With(io.EOF): fetch.Denied,
	} {
		if got := Classify(err); !errors.Is(got, want) || !errors.Is(got, err) || got.Error() != err.Error() {
			t.Errorf("%v: got %v, which is not %v", err, got, want)
		}
	}
	if Classify(nil) != nil {
		t.Error("nil is an error")
	}
}
