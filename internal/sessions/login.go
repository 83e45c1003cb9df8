package sessions

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// NeedLogin adds the setting of a login to err if fault is [fetch.Auth]. For
// any other fault, it returns err unchanged.
func NeedLogin(fault fetch.Fault, err error) error {
	if fault != fetch.Auth {
		return err
	}
	return override.With(err, override.Setting{Kind: override.Login})
}
