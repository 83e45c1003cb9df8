package clientflags

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/http/hsts"
	"github.com/anyurl/fetch/schemes/http/sigv4"
)

// HSTSFlags is the flag of the commands that use https for the hosts in a file.
// Commands that record URLs do not have it, because the URL is the identity there.
type HSTSFlags struct{ file stateFile }

// Register registers the flag.
func (f *HSTSFlags) Register(s *options.Set) {
	f.file.register(s.Section("HTTP"), "hsts", "use https for hosts that require it, and store them in `FILE` (HSTS)")
}

// open returns the hosts in the file of --hsts, or nil without the flag.
func (f *HSTSFlags) open() (*hsts.Store, error) {
	if !f.file.enabled {
		return nil, nil
	}
	store := new(hsts.Store)
	return store, f.file.read(store.Read)
}

// useHSTS makes a Client with the options o replace http by https for the hosts
// in the file of --hsts.
func (c *OpenClient) useHSTS(f *HSTSFlags, o *fetch.Options) error {
	store, err := f.open()
	if store == nil || err != nil {
		return err
	}
	o.Upgrade = store.Upgrade
	o.Wrap = append([]fetch.Middleware{store.Middleware}, o.Wrap...)
	c.saves = append(c.saves, func() error {
		if !store.Changed() {
			return nil
		}
		return f.file.update(store.Read, store.Write, c.streams.Note)
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
