package gateway

import (
	"github.com/anyurl/fetch/gateway/internal/guard"
)

// cookieName is the name of the cookie that permits access to data of the user.
const cookieName = "fetch-serve"

// isPersonal reports whether the request has the cookie of a browser that opened
// the address with the token.
func (x *exchange) isPersonal() bool {
	c, err := x.r.Cookie(cookieName)
	return err == nil && x.gate.key.ValidToken(guard.CookieToken, c.Value)
}
