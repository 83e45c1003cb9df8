package gateway

import (
	"cmp"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/base/tty"
	"github.com/anyurl/fetch/uri"
)

// maxForm is the maximum size of a form in bytes.
const maxForm = 64 << 10

// An openForm is the form in which the user enters a URL. The token shows that
// the form is on a page of this server.
type openForm struct {
	Action, Token string
	URL           string // initial value
	Fixed         bool   // the form consists of a button that opens URL
	Confirm       bool   // the form permits a private address
}

// newOpenForm returns a form with the initial value text. It relaxes the
// referrer policy of the page, because a browser would otherwise send "null" as
// the Origin of the form.
func (x *exchange) newOpenForm(text string) *openForm {
	x.w.Header().Set("Referrer-Policy", "same-origin")
	return &openForm{Action: x.base + "/", Token: x.gate.key.Token(guard.FormToken), URL: text}
}

// openURL answers the form in which the user enters a URL. It redirects to the
// live page of the URL. The signature in its path records that the user entered
// it.
func (x *exchange) openURL(form url.Values) {
	if o := guard.OriginOf(x.r.Method, x.r.Host, x.r.Header); o != guard.Own {
		x.refuseOrigin()
		return
	}
	text := strings.TrimSpace(form.Get("url"))
	if !x.gate.key.ValidToken(guard.FormToken, form.Get("token")) {
		x.failWithForm(http.StatusForbidden, "The form is out of date", "The server has restarted. Send the form again.",
			x.newOpenForm(tty.Escape(text)))
		return
	}
	u, err := x.parseEntered(text)
	if err != nil {
		x.failWithForm(http.StatusBadRequest, "The URL is invalid", err.Error(), x.newOpenForm(tty.Escape(text)))
		return
	}
	if _, _, password := u.User(); password { // the address of the page must not contain the password
		x.refusePassword()
		return
	}
	p := guard.Permission{Level: guard.Entered}
	if form.Get("confirm") != "" {
		p.Level = guard.Confirmed
	}
	x.redirectSigned(u, p)
}

// parseEntered parses a URL that the user entered. The scheme may be missing.
func (x *exchange) parseEntered(text string) (uri.URI, error) {
	u, err := fetch.ParseURL(text)
	if _, known := x.schemes[u.Scheme()]; known || u.HasAuthority() {
		return u, err
	}
	guessed, _, failed := uri.Guess(text, "") // "localhost" in "localhost:8080" is not a scheme
	if failed != nil {
		return u, cmp.Or(err, failed)
	}
	return guessed, nil
}

// failWithForm sends a page that describes an error, with a form for a URL.
func (x *exchange) failWithForm(status int, title, text string, form *openForm) {
	if x.preview {
		x.fail(status, title, text)
		return
	}
	x.w.WriteHeader(status)
	x.render("refused", struct {
		page
		Text string
		Form *openForm
	}{x.newPage(title, nil), tty.Escape(text), form})
}

// refuseOrigin rejects a request that comes from a page of another site.
func (x *exchange) refuseOrigin() {
	x.fail(http.StatusForbidden, "Requests of other sites are refused",
		"The link or form is not on a page of this server. Enter the URL on the first page.")
}

func (x *exchange) refusePassword() {
	x.fail(http.StatusForbidden, "The URL contains a password",
		"The server does not use passwords in URLs, because browsers store and display them.")
}

// reasonOf names the rule of the policy that denied a request, without the URL.
func reasonOf(err error) string {
	var r *fetch.Refusal
	if !errors.As(err, &r) {
		return err.Error()
	}
	return strings.TrimPrefix(r.Error(), "denied by policy: ")
}

// confirm sends a page on which the user must confirm a URL with a private
// address.
func (x *exchange) confirm(t liveTarget, err error) {
	form := x.newOpenForm(t.url.Unredacted())
	form.Fixed, form.Confirm = true, true
	x.failWithForm(http.StatusForbidden, "Open a private address?",
		"The server of this URL is on this machine or in a private network ("+reasonOf(err)+"). Open the URL only if you trust it.", form)
}

// offer sends a page with a form that opens a denied link as if the user had
// entered its URL.
func (x *exchange) offer(t liveTarget, err error) {
	form := x.newOpenForm(t.url.WithoutUserinfo().Unredacted())
	form.Fixed = true
	x.failWithForm(http.StatusForbidden, "The policy denies this link", "The reason is: "+reasonOf(err)+". You can open the URL as if you had entered it.", form)
}

// cookieName returns the name of the cookie that permits access to data of the
// user. It contains the port, because the ports of a host share their cookies.
func (x *exchange) cookieName() string {
	_, port, err := net.SplitHostPort(x.r.Host)
	if err != nil {
		return "fetch-serve"
	}
	return "fetch-serve-" + port
}

// session returns the name of the session of the browser that sent the request.
// It returns "" if the request has no cookie that acceptToken has set.
func (x *exchange) session() string {
	c, err := x.r.Cookie(x.cookieName())
	if err != nil || x.public != nil {
		return ""
	}
	session, _ := x.gate.key.Session(c.Value)
	return session
}

// isPersonal reports whether the request may access data of the user, because
// it belongs to a session.
func (x *exchange) isPersonal() bool { return x.session() != "" }

// acceptToken answers a request for the address with the token, which the
// program prints when it starts. It sets the cookie of a new session, and
// redirects to the first page. A browser with a session keeps its cookie.
func (x *exchange) acceptToken(token string) {
	if x.public != nil || !x.gate.key.ValidToken(guard.StartToken, token) {
		x.fail(http.StatusForbidden, "The token is invalid", "The server prints a new token each time it starts.")
		return
	}
	if !x.isPersonal() {
		http.SetCookie(x.w, &http.Cookie{
			Name: x.cookieName(), Value: x.gate.key.NewSession(), Path: x.base + "/",
			HttpOnly: true, SameSite: http.SameSiteStrictMode,
		})
	}
	x.w.Header().Set("Cache-Control", "no-store")
	x.redirect(x.base + "/")
}

// TokenPath returns the path of the address that gives a browser access to the
// data of the user. It is "" if the Handler has no such address.
func (h *Handler) TokenPath() string {
	if h.gate == nil || h.public != nil {
		return ""
	}
	return h.base + "/?token=" + h.gate.key.Token(guard.StartToken)
}
