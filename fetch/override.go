package fetch

import "errors"

// An Override names the setting that permits a request that failed, for example
// Policy.Ports with the value "http:25". The command prints the corresponding
// flag. The zero Override means that no setting permits the request.
type Override struct {
	Kind  OverrideKind
	Value string // the value to set or to add; empty for some kinds
}

// String returns the kind and the value, such as "Policy.Ports http:25".
func (o Override) String() string {
	if o.Value == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Value
}

// An OverrideKind is the Go name of a setting, such as "Policy.Ports". Packages
// of schemes define more kinds for their own options.
type OverrideKind string

// These settings of package fetch can be named by an [Override].
const (
	OverrideAddresses  OverrideKind = "Policy.Addresses" // Value is an address
	OverridePorts      OverrideKind = "Policy.Ports"     // Value has the syntax of ParsePortRule
	OverrideSchemes    OverrideKind = "Policy.Schemes"   // Value is a scheme
	OverrideRedirects  OverrideKind = "Policy.Redirects" // Value is a scheme
	OverrideDowngrade  OverrideKind = "Policy.Downgrade"
	OverrideLogin      OverrideKind = "Request.Auth"
	OverrideProxyLogin OverrideKind = "Proxy.URL"  // needs a user and a password
	OverrideProxyAuth  OverrideKind = "Proxy.Auth" // must allow Digest; Proxy.URL needs a user and a password
	OverrideGateway    OverrideKind = "Gateway"    // Value is a scheme without a driver
)

// A Remedy wraps an error and names the [Override] that may avoid the error.
// Its [Fault] and its text are unchanged.
type Remedy struct {
	Err      error
	Override Override
}

// Error returns the text of the wrapped error.
func (r *Remedy) Error() string { return r.Err.Error() }

// Unwrap returns the wrapped error.
func (r *Remedy) Unwrap() error { return r.Err }

// NeedLogin wraps err in a [Remedy] with [OverrideLogin] if fault is [Auth].
// For any other fault, it returns err unchanged.
func NeedLogin(fault Fault, err error) error {
	if fault != Auth {
		return err
	}
	return &Remedy{err, Override{Kind: OverrideLogin}}
}

// OverrideOf returns the [Override] that may avoid an error. It searches the
// chain of err first for a [Refusal] and then for a [Remedy]. It returns the
// zero Override if it finds no Override.
func OverrideOf(err error) Override {
	var refusal *Refusal
	var remedy *Remedy
	switch {
	case errors.As(err, &refusal) && refusal.Override != Override{}:
		return refusal.Override
	case errors.As(err, &remedy):
		return remedy.Override
	}
	return Override{}
}
