package sessions

import (
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
)

// NeedLogin adds the setting [override.Login] to err if fault is [fetch.Auth].
// The setting says that the request may succeed with a login. For any
// other fault, NeedLogin returns err unchanged.
func NeedLogin(fault fetch.Fault, err error) error {
	if fault != fetch.Auth {
		return err
	}
	return override.With(err, override.Setting{Kind: override.Login})
}
