package fetch

import "errors"

// An Override is a setting that avoids an error. The command prints the flag
// that changes the setting. The zero Override means that no setting does.
type Override struct {
	Kind  OverrideKind
	Value string // the value to set or to add; empty for some kinds
}

// String returns the kind and the value of o, such as "Policy.Ports http:25".
func (o Override) String() string {
	if o.Value == "" {
		return string(o.Kind)
	}
	return string(o.Kind) + " " + o.Value
}

// An OverrideKind is the Go name of a setting. Packages of schemes define
// further kinds for their own options.
type OverrideKind string

// The settings of this package that an [Override] can name.
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

// A Remedy is an error that an [Override] may avoid. Its [Fault] and its text
// are the same as of Err.
type Remedy struct {
	Err      error
	Override Override
}

// Error returns the text of r.Err.
func (r *Remedy) Error() string { return r.Err.Error() }

// Unwrap returns r.Err.
func (r *Remedy) Unwrap() error { return r.Err }

// NeedLogin returns err as a [Remedy] with [OverrideLogin] if fault is [Auth].
// It returns err itself for any other fault.
func NeedLogin(fault Fault, err error) error {
	if fault != Auth {
		return err
	}
	return &Remedy{err, Override{Kind: OverrideLogin}}
}

// OverrideOf returns the Override of the first [Refusal] in the chain of err
// that has one, or else of the first [Remedy], or else the zero Override.
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
