package main

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes"
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
	return fetch.New(fetch.Options{Policy: policy}, all...), nil
}
