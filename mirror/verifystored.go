package mirror

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// FrontierVerify checks the WARC files in the store of a crawl with a shared
// frontier. It reads every stored file, and compares its size, its digest and
// its records with the database. Files that wait for their upload, and objects
// in the store that the database does not record, are reported as notes. The
// field Finding.Path is the name of a file.
//
// The parameter from is the store that the crawl has recorded. A non-nil error
// ends the sequence. If the crawl has pending URLs, the last error is
// ErrIncomplete, after all findings.
func FrontierVerify(ctx context.Context, in Frontier, from Store) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		err := viewShared(ctx, in, func(f frontier.Shared) error {
			s, err := storeOf(ctx, f, from)
			switch {
			case err != nil:
				return err
			case s == nil:
				return fetch.Usage.Errorf("the crawl has no store")
			}
			return archive.VerifyStored(ctx, f, s, func(f archive.Finding) bool { return yield(Finding(f), nil) })
		})
		if err != nil {
			yield(Finding{}, archive.Classify(err))
		}
	}
}
