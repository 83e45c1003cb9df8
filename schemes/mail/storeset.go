package mail

import (
	"context"
	"errors"
	"sync"

	"github.com/anyurl/fetch/fetch"
)

// A storeSet is the list of configured stores, which are opened at the first
// use.
type storeSet struct {
	open func() ([]store, error)
}

func (o Options) newStoreSet(env fetch.Env) *storeSet {
	return &storeSet{sync.OnceValues(func() ([]store, error) { return o.stores(env) })}
}

// find returns the message with the given id from the first store that has it.
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
