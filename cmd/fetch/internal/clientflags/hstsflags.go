package clientflags

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/schemes/http/sigv4"
)

// openHSTS returns the hosts in the file of --hsts, or nil without the flag.
func (f *HTTPObjectFlags) openHSTS() (*hsts.Store, error) {
	if !f.hsts.enabled {
		return nil, nil
	}
	store := new(hsts.Store)
	return store, f.hsts.read(store.Read)
}

// useHSTS makes a Client with the options o replace http by https for the hosts
// in the file of --hsts.
func (c *OpenClient) useHSTS(f *HTTPObjectFlags, o *fetch.Options) error {
	store, err := f.openHSTS()
	if store == nil || err != nil {
		return err
	}
	o.Upgrade = store.Upgrade
	o.Wrap = append([]fetch.Middleware{store.Middleware}, o.Wrap...)
	c.saves = append(c.saves, func() error {
		if !store.Changed() {
			return nil
		}
		return f.hsts.update(store.Read, store.Write, c.streams.Note)
	})
	return nil
}

// signRequests adds a middleware that signs requests as --aws-sigv4 selects.
func (f *HTTPFlags) signRequests(spec *Spec) error {
	if f.sigv4 == "" {
		return nil
	}
	o, err := sigv4.Parse(f.sigv4)
	spec.Innermost = append([]fetch.Middleware{sigv4.Middleware(o)}, spec.Innermost...)
	return err
}
