package gateway

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/internal/format/askform"
	"github.com/anyurl/fetch/internal/format/render"
	"github.com/anyurl/fetch/uri"
)

// Query returns the form that sends a query to the object at u. The hidden
// fields contain the signature of a link to u.
func (l liveLinks) Query(u uri.URI) (action string, hidden []render.Field, ok bool) {
	p := l.source
	if u == l.target.url {
		p = l.own
	}
	hidden = []render.Field{{Name: "url", Value: u.Unredacted()}, {Name: "via", Value: l.gate.key.Sign(p, u)}}
	if _, ok := askform.Attributes(u); ok { // these forms are sent with the method POST
		hidden = append(hidden, render.Field{Name: "token", Value: l.gate.key.Token(guard.FormToken)})
	}
	return l.base + "/live", hidden, true
}

// isForm reports whether the requested path accepts forms that are sent with
// the method POST.
func (x *exchange) isForm() bool {
	return x.gate != nil && (x.r.RequestURI == x.base+"/" || x.r.RequestURI == x.base+"/live" || x.r.RequestURI == x.base+"/logins")
}

// answerForm answers a form that was sent with the method POST. The parameter
// path is relative to the path prefix of the Handler.
func (x *exchange) answerForm(path string) {
	x.r.Body = http.MaxBytesReader(x.w, x.r.Body, maxForm)
	if err := x.r.ParseForm(); err != nil {
		x.fail(http.StatusBadRequest, "The form cannot be read", "The server accepts forms of at most 64 KiB.")
		return
	}
	switch path {
	case "":
		x.openURL(x.r.PostForm)
	case "logins":
		x.answerLogins(x.r.PostForm)
	default:
		x.answerQuery(x.r.PostForm)
	}
}

// answerQuery redirects the client from a search form, or from the form of a
// Gopher+ item, to the result.
func (x *exchange) answerQuery(values url.Values) {
	u, err := uri.ParseZone(values.Get("url"))
	scheme, ok := x.schemes[u.Scheme()]
	if err != nil || !ok {
		x.fail(http.StatusBadRequest, "The URL is invalid", "The form contains no URL of a supported scheme.")
		return
	}
	t := liveTarget{url: u, via: values.Get("via")}
	p, ok := x.permission(t)
	if !ok {
		x.refuseOrigin()
		return
	}
	if attributes, ok := askform.Attributes(u); ok {
		if x.admits(t, scheme) {
			x.answerAsk(t, p, scheme, attributes, values)
		}
		return
	}
	found, err := scheme.Search(u, fetch.Search{Words: values.Get(render.WordsField)})
	if err != nil {
		x.fail(http.StatusBadRequest, "The search failed", err.Error())
		return
	}
	x.redirectSigned(found, p)
}

// redirectSigned redirects the client to the live page of u, with the
// permission p.
func (x *exchange) redirectSigned(u uri.URI, p guard.Permission) {
	t := liveTarget{url: u.WithoutFragment()}
	x.w.Header().Set("Location", t.path(x.base, x.gate.key.Sign(p, t.url)))
	x.w.WriteHeader(http.StatusSeeOther)
}

// answerAsk redirects the client to a URL that contains the answers to the form
// of a Gopher+ item. It requests the form again, because the server does not
// store it. The user has entered the answers, so the resulting URL is treated
// like a URL that the user entered.
func (x *exchange) answerAsk(t liveTarget, p guard.Permission, scheme fetch.Scheme, attributes uri.URI, values url.Values) {
	if guard.OriginOf(x.r.Method, x.r.Host, x.r.Header) != guard.Own || !x.gate.key.ValidToken(guard.FormToken, values.Get("token")) {
		x.refuseOrigin()
		return
	}
	resp, err := x.gate.retrieve(x.r.Context(), scheme, &fetch.Request{URL: attributes}, p, x.isPersonal())
	if err != nil {
		x.liveError(t, p, err)
		return
	}
	defer resp.Body.Close()
	form, err := render.ReadForm(x.r.Context(), scheme, t.url, resp)
	answers := map[string]string{}
	for name, all := range values {
		if _, invalid := strconv.Atoi(name); invalid == nil {
			answers[name] = all[len(all)-1]
		}
	}
	var filled []string
	if err == nil {
		filled, err = form.Fill(answers, nil)
	}
	var data *askform.Data
	if err == nil {
		data, err = form.Encode(filled)
	}
	if slices.ContainsFunc(form, func(f askform.Field) bool { return f.Kind == askform.Password }) {
		err = errors.Join(fetch.Unsupported.Errorf("the form asks for a password, which the address of the page would contain"), err)
	}
	if err != nil {
		x.fail(http.StatusBadRequest, "The form cannot be sent", err.Error())
		return
	}
	if u, ok := data.URL(t.url); ok {
		x.redirectSigned(u, guard.Permission{Level: max(p.Level, guard.Entered)})
		return
	}
	x.fail(http.StatusBadRequest, "The form cannot be sent", "The answers are too long.")
}
