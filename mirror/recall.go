package mirror

import (
	"context"

	"github.com/anyurl/fetch/internal/frontier"
	"github.com/anyurl/fetch/uri"
)

// recall brings messages back into the run that the archive does not have: no
// listing names them again, as each begins behind the one before. They failed
// in an earlier run, or their files were removed, or are wanted in a form that
// was not wanted then.
func (m *mirror) recall(ctx context.Context) error {
	var failed []frontier.Item
	for it, err := range m.front.Items(ctx, frontier.Dead) {
		if err != nil {
			return err
		}
		if u, err := uri.Parse(it.URL); err == nil && lasting(m.schemeOf(u), u) && metaOf(it).From != "" {
			failed = append(failed, it)
		}
	}
	if _, err := m.front.Add(ctx, failed); err != nil {
		return err
	}
	for it, err := range m.front.Items(ctx, frontier.Kept) {
		if err != nil {
			return err
		}
		if it.Last != nil && !m.has(it.Last) {
			_, err := m.front.Requeue(ctx, frontier.Kept) // those that are there cost no request
			return err
		}
	}
	return nil
}
