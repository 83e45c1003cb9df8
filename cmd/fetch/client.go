package main

import (
	"os"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/wrap"
)

// client builds the Client that the flags ask for.
func (a *app) client() (*fetch.Client, error) {
	f := &a.flags
	all := schemes.All(schemes.Options{
		HTTP: http.Options{UserAgent: "fetch/" + version, PathAsIs: f.http.pathAsIs},
	})
	known := make([]string, len(all))
	for i, s := range all {
		known[i] = s.Name
	}
	policy, err := f.policy(known)
	if err != nil {
		return nil, err
	}
	proxy, err := f.proxy.choose(os.Getenv)
	if err != nil {
		return nil, err
	}
	if a.who, err = a.logins(); err != nil {
		return nil, err
	}
	return fetch.New(fetch.Options{Policy: policy, Wrap: a.middlewares(), Proxy: proxy, Login: a.who.answer}, all...), nil
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
