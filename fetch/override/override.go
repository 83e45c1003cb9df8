// Package override describes the settings that would permit a request that
// failed.
//
// For example, the Policy of a Client blocks port 25 for http. The error of such
// a request has the setting Policy.Ports with the value "http:25". A program can
// show the setting to the user, or change it and send the request again.
package override

import "errors"

// A Setting identifies an option that may permit a request that failed, such as
// Policy.Ports. The zero Setting means that no option permits the request.
type Setting struct {
	Kind  Kind
	Value string // the value to set or to add; empty for some kinds
}

// String returns the kind and the value, such as "Policy.Ports http:25".
func (s Setting) String() string {
	if s.Value == "" {
		return string(s.Kind)
	}
	return string(s.Kind) + " " + s.Value
}

// A Kind is the Go name of a setting, such as "Policy.Ports". The packages of
// the schemes define more Kinds for their own options.
type Kind string

// The settings of package fetch.
const (
	Addresses  Kind = "Policy.Addresses" // Value is an address
	Ports      Kind = "Policy.Ports"     // Value has the syntax of fetch.ParsePortRule
	Schemes    Kind = "Policy.Schemes"   // Value is a scheme
	Redirects  Kind = "Policy.Redirects" // Value is a scheme
	Downgrade  Kind = "Policy.Downgrade"
	Login      Kind = "Request.Auth"
	ProxyLogin Kind = "Proxy.URL"  // needs a user and a password
	ProxyAuth  Kind = "Proxy.Auth" // must allow Digest; Proxy.URL needs a user and a password
	ProxyTLS   Kind = "Proxy.TLS"  // must trust the certificate of the proxy
	Gateway    Kind = "Gateway"    // Value is a scheme without a driver
)

// With adds a setting to an error without changing its text. It returns err if
// the setting is zero.
func With(err error, s Setting) error {
	if s == (Setting{}) {
		return err
	}
	return &failure{err, s}
}

// A failure is an error with the setting that may avoid it.
type failure struct {
	err     error
	setting Setting
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Of returns the setting that [With] added to an error, or the zero Setting if
// With added none. It returns the outermost setting of the chain of err.
func Of(err error) Setting {
	var f *failure
	if errors.As(err, &f) {
		return f.setting
	}
	return Setting{}
}
