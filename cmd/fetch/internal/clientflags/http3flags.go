package clientflags

import (
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/altsvc"
	"github.com/anyurl/fetch/schemes/http/h3"
)

// selectHTTP3 returns the settings of HTTP/3 that the flags select, or nil if
// they select none. The store contains the servers of --alt-svc, or is nil.
func (f *HTTPFlags) selectHTTP3(store *altsvc.Store) http.HTTP3 {
	o := h3.Options{Mode: h3.Advertised, AltSvc: store}
	switch {
	case f.http3Only:
		o.Mode = h3.Only
	case f.http3:
		o.Mode = h3.Race
	case store == nil:
		return nil
	}
	return h3.New(o)
}

// useAltSvc makes the http schemes of spec use the servers in the file of
// --alt-svc.
func (c *OpenClient) useAltSvc(f *HTTPFlags, object *HTTPObjectFlags, spec *Spec) error {
	if !object.altSvc.enabled {
		return nil
	}
	store := new(altsvc.Store)
	if err := object.altSvc.read(store.Read); err != nil {
		return err
	}
	spec.Schemes.HTTP.HTTP3 = f.selectHTTP3(store)
	spec.Innermost = append(spec.Innermost, store.Middleware)
	c.saves = append(c.saves, func() error {
		if !store.Changed() {
			return nil
		}
		return object.altSvc.update(store.Read, store.Write)
	})
	return nil
}
