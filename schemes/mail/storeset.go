package mail

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A storeSet holds the configured mail stores. It opens them when they are
// first used.
type storeSet struct {
	open  func() ([]store, error)
	limit func(io.ReadCloser) io.ReadCloser // fetch.Env.Limit
}

func (o Options) newStoreSet(env fetch.Env) *storeSet {
	return &storeSet{sync.OnceValues(func() ([]store, error) { return o.stores(env) }), env.Limit}
}

// find searches the stores in order and returns the first message with the
// given Message-ID.
func (l *storeSet) find(ctx context.Context, req *fetch.Request, id string) (*fetch.Response, error) {
	stores, err := l.open()
	if err != nil {
		return nil, err
	}
	for _, s := range stores {
		var resp *fetch.Response
		if resp, err = s.find(ctx, req, id); !errors.Is(err, fetch.NotFound) {
			return resp, err
		}
	}
	return nil, err
}
