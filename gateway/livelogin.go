package gateway

import (
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/override"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/gateway/internal/logins"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// originOf returns the origin of a URL for which a login is valid. It returns
// false if the URL has no host.
func originOf(u uri.URI, scheme fetch.Scheme) (o fetch.Origin, ok bool) {
	t, err := fetch.TargetOf(u, scheme.Port)
	return t.Origin(), err == nil && t.Host != ""
}

// userOf returns the user name in a URL, or "".
func (g *gate) userOf(u uri.URI) string {
	c, err := g.clients[clientKey{}].Credential(u)
	if err != nil || c == nil {
		return ""
	}
	return c.User
}

// findLogin returns the login that the user has entered for the server of t, or
// nil. Like the netrc file, it is used for URLs that the user entered, and for
// links between pages of one server. A redirect is such a link.
func (x *exchange) findLogin(t liveTarget, p guard.Permission, scheme fetch.Scheme) *fetch.Credential {
	o, ok := originOf(t.url, scheme)
	if !ok || p.Level == guard.Public || p.Level == guard.Link && !sameServer(p.Source.URL, t.url) {
		return nil
	}
	return x.gate.logins.Find(x.session(), o, x.gate.userOf(t.url))
}

// reportLogin records whether the server has accepted the login of a request.
// Errors of the network are not evidence about the login.
func (x *exchange) reportLogin(resp *fetch.Response, err error) {
	if x.login == nil {
		return
	}
	if err == nil {
		err = resp.Fault
	}
	switch {
	case fetch.FaultOf(err) == fetch.Auth:
		x.gate.logins.Report(x.session(), x.login, false)
	case err == nil:
		x.gate.logins.Report(x.session(), x.login, true)
	}
}

// needsLogin reports whether a request failed because it needs a user name and a
// password for the server of the URL, and not for a proxy. The argument rejected
// means that the request had a login that the user entered.
func needsLogin(err error, rejected bool) bool {
	if err == nil || fetch.FaultOf(err) != fetch.Auth {
		return false
	}
	switch override.Of(err).Kind {
	case override.ProxyLogin, override.ProxyAuth:
		return false
	case "": // such as a missing client certificate
		return rejected
	}
	return true
}

// A loginPage is the template data of the login form.
type loginPage struct {
	page
	Server   string // scheme, host and port of the server
	Detail   string // the error of the server
	Rejected bool   // the server rejected the login that the user entered
	Other    string // user name of a login that was not used, because a page of another server contains the link, or ""
	Plain    bool   // the scheme does not encrypt passwords
	Form     *loginForm
	Open     *openForm // the button that opens the URL in the session of the browser, or nil
}

// A loginForm is a form for a user name and a password.
type loginForm struct {
	Action, Token, URL, Via string
	User                    string // user name of the URL, or ""
}

// askLogin sends the login form for the URL t, whose request
// failed with the error err. The user must have opened the address with the
// token, so that the login belongs to a session. It returns false if the client
// cannot show the page, or if this server does not accept logins.
func (x *exchange) askLogin(t liveTarget, p guard.Permission, scheme fetch.Scheme, err error) bool {
	o, ok := originOf(t.url, scheme)
	if !ok || !needsLogin(err, x.login != nil) || t.raw || t.inline || t.feed || t.first || t.part != "" || x.public != nil || isProxied(x.r) {
		return false
	}
	status := http.StatusForbidden
	if scheme.Traits.Web {
		status = http.StatusUnauthorized
	}
	x.sendLogin(status, t, p, scheme, loginPage{Server: serverText(o), Detail: tty.Escape(err.Error()), Rejected: x.login != nil})
	return true
}

// sendLogin completes data with a form and sends it.
func (x *exchange) sendLogin(status int, t liveTarget, p guard.Permission, scheme fetch.Scheme, data loginPage) {
	data.page, data.Plain = x.newPage("Log in to the server", nil), !scheme.Secure
	session := x.session()
	user := x.gate.userOf(t.url)
	o, _ := originOf(t.url, scheme)
	if other := x.gate.logins.Find(session, o, user); x.login == nil && other != nil {
		data.Other = tty.Escape(other.User)
	}
	if session == "" || data.Other != "" {
		data.Open = x.newOpenForm(t.url.Unredacted())
		data.Open.Fixed = true
	}
	if session != "" {
		x.w.Header().Set("Referrer-Policy", "same-origin") // so that the form has an Origin
		data.Form = &loginForm{
			Action: x.base + "/logins", Token: x.gate.key.Token(guard.LoginToken(session)),
			URL: t.url.Unredacted(), Via: x.gate.key.Sign(p, t.url), User: user,
		}
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.w.WriteHeader(status)
	x.render("login", data)
}

// serverText returns an origin as a URL without a path.
func serverText(o fetch.Origin) string {
	return o.Scheme + "://" + tty.Escape(net.JoinHostPort(o.Host, strconv.Itoa(int(o.Port))))
}

// showLogins sends the page with the logins of the session.
func (x *exchange) showLogins() {
	session := x.session()
	if session == "" {
		x.refuseLogins()
		return
	}
	type row struct{ Server, User, End, Scheme, Host, Port string }
	data := struct {
		page
		Token  string
		Logins []row
	}{page: x.newPage("Logins", nil), Token: x.gate.key.Token(guard.LoginToken(session))}
	for _, l := range x.gate.logins.List(session) {
		data.Logins = append(data.Logins, row{
			serverText(l.Origin), tty.Escape(l.User), l.End.UTC().Format("15:04 UTC"),
			l.Origin.Scheme, l.Origin.Host, strconv.Itoa(int(l.Origin.Port)),
		})
	}
	x.w.Header().Set("Referrer-Policy", "same-origin")
	x.w.Header().Set("Cache-Control", "no-store")
	x.render("logins", data)
}

// refuseLogins sends the page for a browser that has no session.
func (x *exchange) refuseLogins() {
	if x.public != nil {
		x.fail(http.StatusForbidden, "This server accepts no logins", "It serves other machines, and would see their passwords.")
		return
	}
	x.fail(http.StatusForbidden, "Logins need the token of the server",
		"First open the address with the token, which the server printed when it started.")
}

// answerLogins answers the forms that add and remove logins.
func (x *exchange) answerLogins(form url.Values) {
	session := x.session()
	switch {
	case guard.OriginOf(x.r.Method, x.r.Host, x.r.Header) != guard.Own:
		x.refuseOrigin()
	case session == "":
		x.refuseLogins()
	case !x.gate.key.ValidToken(guard.LoginToken(session), form.Get("token")):
		x.fail(http.StatusForbidden, "The form is out of date", "The server has restarted, or the browser has a new session. Open the URL again.")
	case form.Has("all"):
		x.gate.logins.ForgetAll(session)
		x.seeLogins()
	case form.Has("host"):
		port, _ := strconv.ParseUint(form.Get("port"), 10, 16) // an invalid port has no login
		x.gate.logins.Forget(session, fetch.Origin{Scheme: form.Get("scheme"), Host: form.Get("host"), Port: uint16(port)})
		x.seeLogins()
	default:
		x.addLogin(session, form)
	}
}

// seeLogins redirects the client to the page with the logins of the session.
func (x *exchange) seeLogins() {
	x.w.Header().Set("Location", x.base+"/logins")
	x.w.WriteHeader(http.StatusSeeOther)
}

// addLogin stores the login that the user entered, and opens its URL as if the
// user had entered the URL too. The page of the form names the server.
func (x *exchange) addLogin(session string, form url.Values) {
	u, err := uri.ParseZone(form.Get("url"))
	scheme := x.schemes[u.Scheme()]
	o, ok := originOf(u, scheme)
	if err != nil || !ok {
		x.fail(http.StatusBadRequest, "The URL is invalid", "The form contains no URL of a server.")
		return
	}
	t := liveTarget{url: u.WithoutFragment(), via: form.Get("via")}
	if !x.admits(t, scheme) {
		return
	}
	p, ok := x.permission(t)
	if !ok {
		x.refuseOrigin()
		return
	}
	user, password := form.Get("user"), form.Get("password")
	if inURL := x.gate.userOf(u); inURL != "" {
		user = inURL
	}
	if err := logins.Check(user, password); err != nil {
		x.sendLogin(http.StatusBadRequest, t, p, scheme, loginPage{Server: serverText(o), Detail: tty.Escape(err.Error())})
		return
	}
	x.gate.logins.Add(session, fetch.Credential{Origin: o, User: user, Password: fetch.Secret(password)})
	x.redirectSigned(t.url, guard.Permission{Level: max(p.Level, guard.Entered)})
}
