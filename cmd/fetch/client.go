package main

import (
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/wrap"
)

// client builds the Client that the flags ask for.
func (a *app) client() (*fetch.Client, error) {
	all := schemes.All(schemes.Options{})
	known := make([]string, len(all))
	for i, s := range all {
		known[i] = s.Name
	}
	policy, err := a.flags.policy(known)
	if err != nil {
		return nil, err
	}
	return fetch.New(fetch.Options{Policy: policy, Wrap: a.middlewares()}, all...), nil
}

func (a *app) middlewares() []fetch.Middleware {
	f := &a.flags
	if f.retry == 0 {
		return nil
	}
	return []fetch.Middleware{wrap.Retry(wrap.RetryOptions{
		Attempts: f.retry + 1,
		Delay:    time.Duration(f.retryDelay),
		Total:    time.Duration(f.retryMaxTime),
		All:      f.retryAllErrors,
		Notify: func(_ *fetch.Request, n int, wait time.Duration, err error) {
			a.note("%v; attempt %d of %d in %v", err, n+1, f.retry+1, wait.Round(100*time.Millisecond))
		},
	})}
}
