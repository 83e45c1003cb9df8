package crawlflags

import (
	"errors"
	"fmt"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/mirror"
)

// AdviseArchive adds advice to an error about missing WARC records, or about a
// database in dir that fetch recover can rebuild.
func AdviseArchive(dir string, err error) error {
	switch {
	case errors.Is(err, mirror.ErrLost):
		return fmt.Errorf("%w (to accept the loss: --max-lost 100%%)", err)
	case errors.Is(err, mirror.ErrFilesLost), errors.Is(err, mirror.ErrOtherFolder):
		return fmt.Errorf("%w (to give up the records of the worker: fetch frontier abandon)", err)
	case errors.Is(err, mirror.ErrObjectsLost):
		return fmt.Errorf("%w (to retrieve lost objects again: --again --recheck)", err)
	case mirror.NeedsRecovery(err):
		return console.RecoverableError{Err: err, Dir: dir}
	}
	return err
}

// AdviseCrawl is AdviseArchive for a crawl. It does not change err if the frontier
// of the crawl is shared.
func AdviseCrawl(crawl mirror.Location, err error) error {
	if err == nil || crawl.Frontier != nil {
		return err
	}
	return AdviseArchive(crawl.Dir, err)
}

// AdviseStore adds the flags that name a store to the error of a command whose
// crawl has a store.
func AdviseStore(err error) error {
	if errors.Is(err, mirror.ErrUnnamedStore) {
		return fmt.Errorf("%w: to use it, name it in the command (--frontier and --store)", err)
	}
	return err
}
