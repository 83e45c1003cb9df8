package mirror

import (
	"context"
	"iter"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror/internal/archive"
	"github.com/anyurl/fetch/mirror/internal/frontier"
)

// verifyStored implements Verify for a crawl with a shared frontier.
func (c *Crawl) verifyStored(ctx context.Context) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		err := c.viewShared(ctx, func(f frontier.Shared) error {
			s, err := storeOf(ctx, f, c.place.Store)
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
