package fetch

import "errors"

// A Remedy is an error with an option of the command that may avoid it. Its
// Fault and its text are those of Err.
type Remedy struct {
	Err    error
	Option string // such as "--sasl PLAIN"
}

// Error returns the text of r.Err.
func (r *Remedy) Error() string { return r.Err.Error() }

// Unwrap returns r.Err.
func (r *Remedy) Unwrap() error { return r.Err }

// The options that give a login to a server and to a proxy.
const (
	LoginOption      = "-u USER:PASSWORD, or -n for the login in ~/.netrc"
	ProxyLoginOption = "-U USER:PASSWORD"
)

// NeedLogin returns err, of the class fault, as a [Remedy] with [LoginOption]
// if fault is [Auth], and err itself if not.
func NeedLogin(fault Fault, err error) error {
	if fault != Auth {
		return err
	}
	return &Remedy{err, LoginOption}
}

// RemedyOf returns the option of the command that may avoid err: that of a
// [Refusal] or a [Remedy] in its chain, or "".
func RemedyOf(err error) string {
	var refusal *Refusal
	var remedy *Remedy
	switch {
	case errors.As(err, &refusal) && refusal.Override != "":
		return refusal.Override
	case errors.As(err, &remedy):
		return remedy.Option
	}
	return ""
}
