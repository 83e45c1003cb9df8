package ldap

import (
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/internal/wire/ber"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// faults maps result codes to classes of errors. All other codes are
// fetch.Denied.
var faults = map[int64]fetch.Fault{
	ldap.LDAPResultStrongAuthRequired:          fetch.Auth,
	ldap.LDAPResultNoSuchObject:                fetch.NotFound,
	ldap.LDAPResultInvalidDNSyntax:             fetch.BadURL,
	ldap.LDAPResultInappropriateAuthentication: fetch.Auth,
	ldap.LDAPResultInvalidCredentials:          fetch.Auth,
	ldap.LDAPResultInsufficientAccessRights:    fetch.Auth,
	ldap.LDAPResultBusy:                        fetch.TryLater,
	ldap.LDAPResultUnavailable:                 fetch.TryLater,
	ldap.LDAPResultTimeLimitExceeded:           fetch.TryLater,
	ldap.LDAPResultLoopDetect:                  fetch.Loop,
}

// maxShown is the maximum length in bytes of a server's message in an error.
const maxShown = 300

// fault returns the error for a result that is not a success.
func (r result) fault() error {
	f, ok := faults[r.code]
	if !ok {
		f = fetch.Denied
	}
	name := strings.ToLower(ldap.LDAPResultCodeMap[uint16(max(r.code, 0)&0xFFFF)])
	if name == "" {
		name = "error"
	}
	err := f.Errorf("server replied: %s (%d)", name, r.code)
	if r.text != "" {
		err = f.Errorf("server replied: %s (%d): %s", name, r.code, tty.Escape(r.text[:min(len(r.text), maxShown)]))
	}
	return sessions.NeedLogin(f, &fetch.Error{Code: int(r.code), Err: err})
}

// wireFault classifies an error of the connection or of the BER decoder.
func wireFault(err error) error { return sessions.MessageFault(err, ber.ErrMalformed) }
