package mirror_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
)

// TestNotShared checks the methods of a Crawl that need a shared frontier, and
// the errors for a directory without an archive.
func TestNotShared(t *testing.T) {
	crawl := mirror.Open(mirror.Location{Dir: t.TempDir()})
	_, workers := crawl.Workers(t.Context())
	_, abandoned := crawl.Abandon(t.Context(), "worker", mirror.AbandonOptions{})
	limits := crawl.ChangeLimits(t.Context(), func(*mirror.Limits) {})
	for _, err := range []error{workers, abandoned, limits} {
		if fetch.FaultOf(err) != fetch.Usage {
			t.Errorf("got %v", err)
		}
	}
	if _, err := crawl.Options(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("options: %v", err)
	}
	if _, err := crawl.Status(t.Context()); fetch.FaultOf(err) != fetch.Local {
		t.Errorf("status: %v", err)
	}
	for _, err := range crawl.Verify(t.Context()) {
		if fetch.FaultOf(err) != fetch.Local {
			t.Errorf("verify: %v", err)
		}
	}
}
