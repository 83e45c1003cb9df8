package gateway

import (
	"context"
	"errors"
	"html"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/gateway/internal/guard"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// A network is a Dial function and a Resolver that record all connections and
// open none.
type network struct {
	mu     sync.Mutex
	dialed []string
	names  map[string]string // addresses by host name
}

func (n *network) dial(_ context.Context, _ string, to netip.AddrPort) (net.Conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dialed = append(n.dialed, to.String())
	return nil, fetch.NotFound.Errorf("no network") // is not retried
}

func (n *network) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addr, ok := n.names[strings.TrimSuffix(host, ".")]
	if !ok {
		return nil, fetch.DNS.Errorf("unknown host %s", host)
	}
	return []netip.Addr{netip.MustParseAddr(addr)}, nil
}

// take returns the connections since the last call.
func (n *network) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	defer func() { n.dialed = nil }()
	return n.dialed
}

// newIsolated returns a Handler for live pages whose connections are recorded.
func newIsolated(t testing.TB, change func(*Options)) (*Handler, *network) {
	t.Helper()
	n := &network{names: map[string]string{
		"public.example": "198.41.0.4", "private.example": "10.1.2.3", "listed.example": "10.9.9.9", "rebound.example": "127.0.0.1",
		"localhost": "127.0.0.1",
	}}
	opts := Options{Address: testAddress, Schemes: schemes.All(schemes.Options{}), Live: &Live{}}
	opts.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
		return fetch.New(fetch.Options{Policy: p, Dial: n.dial, Resolver: n}, opts.Schemes...), nil
	}
	if change != nil {
		change(&opts)
	}
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h, n
}

// signed returns the path of a live page with a signature of h.
func signed(h *Handler, p guard.Permission, target string) string {
	u := uri.MustParse(target)
	return liveTarget{url: u}.path("", h.gate.key.Sign(p, u))
}

// from returns the permission for links in a page.
func from(page, peer string) guard.Permission {
	p := guard.Permission{Level: guard.Link, Source: fetch.Source{URL: uri.MustParse(page)}}
	if peer != "" {
		p.Source.Peer = netip.MustParseAddr(peer)
	}
	return p
}

// TestLiveTrust checks, for each way in which a URL can reach the server, the
// status and the addresses to which the server connects. The status 404 is the
// error of the recorded network, which comes after the policy.
func TestLiveTrust(t *testing.T) {
	entered, confirmed := guard.Permission{Level: guard.Entered}, guard.Permission{Level: guard.Confirmed}
	public, private, local := from("gopher://public.example/1/", "198.41.0.4"), from("gopher://private.example/1/", "10.1.2.3"), from("gopher://127.0.0.1/1/", "127.0.0.1")
	h, n := newIsolated(t, func(o *Options) { o.Live.AllowHosts = []string{"listed.example", "192.168.7.0/24"} })
	for name, c := range map[string]struct {
		target string
		fields []string
		status int
		dialed string // addresses separated by spaces
	}{
		"navigation to a public host":          {"/live/gopher://public.example/", navigation, 404, "198.41.0.4:70"},
		"navigation to a private host":         {"/live/gopher://private.example/", navigation, 403, ""},
		"navigation to a private address":      {"/live/gopher://10.1.2.3/", navigation, 403, ""},
		"navigation to loopback":               {"/live/gopher://127.0.0.1/", navigation, 403, ""},
		"navigation to rebound name":           {"/live/gopher://rebound.example/", navigation, 403, ""},
		"navigation to a port only for typed":  {"/live/http://public.example:81/", navigation, 403, ""}, // a redirect of another site looks the same
		"entered port":                         {signed(h, entered, "http://public.example:81/"), nil, 404, "198.41.0.4:81"},
		"navigation to a metadata service":     {"/live/http://169.254.169.254/", navigation, 403, ""},
		"navigation to a listed host":          {"/live/gopher://listed.example/", navigation, 404, "10.9.9.9:70"},
		"navigation to a listed prefix":        {"/live/gopher://192.168.7.3/", navigation, 404, "192.168.7.3:70"},
		"navigation to the address of a list":  {"/live/gopher://10.9.9.9/", navigation, 403, ""},
		"entered, public host":                 {signed(h, entered, "gopher://public.example/"), nil, 404, "198.41.0.4:70"},
		"entered, private host":                {signed(h, entered, "gopher://private.example/"), nil, 403, ""},
		"confirmed, private host":              {signed(h, confirmed, "gopher://private.example/"), nil, 404, "10.1.2.3:70"},
		"confirmed, loopback":                  {signed(h, confirmed, "gopher://127.0.0.1/"), nil, 404, "127.0.0.1:70"},
		"confirmed, metadata service":          {signed(h, confirmed, "http://169.254.169.254/"), nil, 403, ""},
		"confirmed, name of metadata service":  {signed(h, confirmed, "http://metadata/"), nil, 502, ""},
		"confirmed, the listener":              {signed(h, confirmed, "http://127.0.0.1:8700/"), nil, 403, ""},
		"confirmed, the listener by name":      {signed(h, confirmed, "http://localhost:8700/"), nil, 403, ""},
		"confirmed, the listener by zero":      {signed(h, confirmed, "http://0.0.0.0:8700/"), nil, 403, ""},
		"confirmed, the listener by mapped":    {signed(h, confirmed, "http://[::ffff:127.0.0.1]:8700/"), nil, 403, ""},
		"confirmed, the listener by 127.0.0.2": {signed(h, confirmed, "http://127.0.0.2:8700/"), nil, 403, ""},
		"confirmed, another port":              {signed(h, confirmed, "http://127.0.0.1:8701/"), nil, 404, "127.0.0.1:8701"},
		"entered, blocked port":                {signed(h, entered, "gopher://public.example:25/"), nil, 403, ""},
		"no metadata, public host":             {"/live/gopher://public.example/", nil, 404, "198.41.0.4:70"},
		"no metadata, private host":            {"/live/gopher://private.example/", nil, 403, ""},
		"no metadata, loopback":                {"/live/gopher://127.0.0.1/", nil, 403, ""},
		"no metadata, localhost":               {"/live/gopher://localhost/", nil, 403, ""},
		"no metadata, listed host":             {"/live/gopher://listed.example/", nil, 404, "10.9.9.9:70"},
		"no metadata, text service":            {"/live/gopher://public.example:6379/", nil, 403, ""},
		"same origin without signature":        {"/live/gopher://private.example/", []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403, ""},
		"image without signature":              {"/raw/gopher://private.example/", []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: image"}, 403, ""},
		"entered image":                        {"/raw/gopher://private.example/", []string{"Sec-Fetch-Site: none", "Sec-Fetch-Dest: image"}, 403, ""},
		"link of a public page to private":     {signed(h, public, "gopher://private.example/"), nil, 403, ""},
		"link of a public page to loopback":    {signed(h, public, "gopher://127.0.0.1/"), nil, 403, ""},
		"link of a public page to public":      {signed(h, public, "gopher://public.example:7070/"), nil, 404, "198.41.0.4:7070"},
		"link of a public page to a service":   {signed(h, public, "gopher://public.example:6379/"), nil, 403, ""},
		"link of a public page to telnet":      {signed(h, public, "telnet://public.example/"), nil, 200, ""},
		"link of a public page to file":        {signed(h, public, "file:///etc/passwd"), nil, 403, ""},
		"link of a public page to imap":        {signed(h, public, "imap://public.example/INBOX"), nil, 403, ""},
		"link of a public page to wais":        {signed(h, public, "wais://public.example/db"), nil, 403, ""},
		"link of a private page to itself":     {signed(h, private, "gopher://private.example/0/x"), nil, 404, "10.1.2.3:70"},
		"link of a private page to neighbour":  {signed(h, private, "gopher://10.1.2.200/"), nil, 404, "10.1.2.200:70"},
		"link of a private page to a far net":  {signed(h, private, "gopher://10.200.0.1/"), nil, 403, ""},
		"link of a private page to loopback":   {signed(h, private, "gopher://127.0.0.1/"), nil, 403, ""},
		"link of a local page to loopback":     {signed(h, local, "gopher://127.0.0.1:7070/"), nil, 404, "127.0.0.1:7070"},
		"link of a local page to the listener": {signed(h, local, "http://127.0.0.1:8700/"), nil, 403, ""},
		"cross-site without signature":         {"/live/gopher://public.example/", []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"cross-site navigation":                {"/live/gopher://public.example/", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 403, ""},
		"same-site":                            {"/live/gopher://public.example/", []string{"Sec-Fetch-Site: same-site"}, 403, ""},
		"same-site with signature":             {signed(h, public, "gopher://public.example/"), []string{"Sec-Fetch-Site: same-site"}, 403, ""},
		"foreign Origin":                       {"/raw/gopher://public.example/", []string{"Origin: http://evil.example"}, 403, ""},
		"foreign Origin with signature":        {signed(h, public, "gopher://public.example/"), []string{"Origin: http://evil.example"}, 403, ""},
		"Origin of another port":               {"/raw/gopher://public.example/", []string{"Origin: http://localhost:3000"}, 403, ""},
		"own Origin":                           {"/raw/gopher://public.example/", []string{"Origin: http://localhost:8700"}, 404, "198.41.0.4:70"},
		"opaque Origin":                        {"/raw/gopher://public.example/", []string{"Origin: null"}, 403, ""},
		"sandboxed page with signature":        {signed(h, public, "gopher://public.example/"), []string{"Origin: null", "Sec-Fetch-Site: cross-site"}, 404, "198.41.0.4:70"},
		"sandboxed page, private target":       {signed(h, public, "gopher://private.example/"), []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"sandboxed page with entered URL":      {signed(h, entered, "gopher://public.example/"), []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"sandboxed page with confirmed URL":    {signed(h, confirmed, "gopher://private.example/"), []string{"Sec-Fetch-Site: cross-site"}, 403, ""},
		"signature of another URL":             {signed(h, confirmed, "gopher://private.example/") + "x", nil, 403, ""},
		"signature of an earlier start":        {"/live;via=" + guard.NewKey().Sign(confirmed, uri.MustParse("gopher://private.example/")) + "/gopher://private.example/", nil, 403, ""},
		"password in the URL":                  {"/live/ftp://user:secret@public.example/", navigation, 403, ""},
		"unknown scheme":                       {"/live/nosuch://public.example/", navigation, 400, ""},
		"no scheme":                            {"/live/public.example/", navigation, 400, ""},
		"unknown parameter":                    {"/live;x=1/gopher://public.example/", navigation, 404, ""},
		"file without token":                   {"/live/file:///etc/passwd", navigation, 403, ""},
		"mailbox without token":                {"/live/imap://public.example/INBOX", navigation, 403, ""},
		"mailbox of POP without token":         {"/live/pop://public.example/", navigation, 403, ""},
		"keys without token":                   {"/live/sftp://public.example/", navigation, 403, ""},
		"keys without token, confirmed":        {signed(h, confirmed, "scp://private.example/x"), nil, 403, ""},
		"message without token":                {"/live/mid:x@y", navigation, 403, ""},
		"Host of another site":                 {"/live/gopher://public.example/", append([]string{"Host: evil.example"}, navigation...), 403, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := get(h, "GET", c.target, c.fields...)
			if got := strings.Join(n.take(), " "); w.Code != c.status || got != c.dialed {
				t.Errorf("%s: status %d, connections %q, want %d, %q\n%s", c.target, w.Code, got, c.status, c.dialed, w.Body)
			}
			if strings.Contains(w.Body.String(), "secret") {
				t.Errorf("the page contains a password: %s", w.Body)
			}
			if f := w.Header(); f.Get("X-Frame-Options") != "DENY" || f.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: header %v", c.target, f)
			}
		})
	}
}

// post sends a form to a Handler.
func post(h http.Handler, target string, form url.Values, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/", strings.NewReader(form.Encode()))
	r.RequestURI, r.Host = target, "localhost:8700"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// hiddenField matches a hidden field of a form.
var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// fieldsOf returns the hidden fields of the forms in a page.
func fieldsOf(page string) url.Values {
	v := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		v.Set(m[1], html.UnescapeString(m[2]))
	}
	return v
}

// TestOpenForm enters URLs in the form of the first page, and confirms a private
// address.
func TestOpenForm(t *testing.T) {
	h, n := newIsolated(t, nil)
	form := fieldsOf(get(h, "GET", "/").Body.String())
	enter := func(url string) *httptest.ResponseRecorder {
		form.Set("url", url)
		return post(h, "/", form, "Origin: http://localhost:8700", "Sec-Fetch-Site: same-origin")
	}
	for text, want := range map[string]string{
		"gopher://public.example/":   "/gopher://public.example/",
		" gopher.public.example ":    "/gopher://gopher.public.example",
		"localhost:8080/x":           "/http://localhost:8080/x",
		"news:comp.lang.c":           "/news:comp.lang.c",
		"http://public.example/a b":  "/http://public.example/a%20b",
		"http://public.example/?q=1": "/http://public.example/?q=1",
	} {
		w := enter(text)
		if to := w.Header().Get("Location"); w.Code != 303 || !strings.HasPrefix(to, "/live;via=e") || !strings.HasSuffix(to, want) {
			t.Errorf("%q: %d %s, want %s", text, w.Code, to, want)
		}
	}
	for _, text := range []string{"", "a:b@c", "//evil.example/", "http://user:secret@public.example/"} {
		w := enter(text)
		if w.Code != 400 && w.Code != 403 || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), "Location") {
			t.Errorf("%q: %d %v", text, w.Code, w.Header())
		}
	}
	w := get(h, "GET", enter("gopher://private.example/1/x'()").Header().Get("Location"))
	question := fieldsOf(w.Body.String())
	if w.Code != 403 || question.Get("url") != "gopher://private.example/1/x'()" || question.Get("confirm") == "" || len(n.take()) > 0 {
		t.Fatalf("the page does not ask: %d %s", w.Code, w.Body)
	}
	w = get(h, "GET", post(h, "/", question).Header().Get("Location"))
	if got := n.take(); w.Code != 404 || !slices.Equal(got, []string{"10.1.2.3:70"}) {
		t.Errorf("confirmed: %d, connections %q", w.Code, got)
	}
	w = get(h, "GET", signed(h, from("gopher://public.example/", ""), "gopher://private.example/"))
	offer := fieldsOf(w.Body.String())
	if w.Code != 403 || offer.Get("url") == "" || offer.Get("confirm") != "" {
		t.Errorf("a denied link: %d %s", w.Code, w.Body)
	}
}

// TestOpenFormRefused sends forms that are not on a page of the server.
func TestOpenFormRefused(t *testing.T) {
	h, _ := newIsolated(t, nil)
	valid := fieldsOf(get(h, "GET", "/").Body.String())
	valid.Set("url", "gopher://public.example/")
	for name, c := range map[string]struct {
		target string
		token  string
		fields []string
		status int
	}{
		"own page":              {"/", "", []string{"Origin: http://localhost:8700"}, 303},
		"opaque but own":        {"/", "", []string{"Origin: null", "Sec-Fetch-Site: same-origin"}, 303},
		"text browser":          {"/", "", nil, 303},
		"wrong token":           {"/", "x", nil, 403},
		"token of a link":       {"/", h.gate.key.Sign(guard.Permission{Level: guard.Entered}, uri.MustParse("gopher://public.example/")), nil, 403},
		"token of the address":  {"/", h.gate.key.Token(guard.StartToken), nil, 403},
		"foreign Origin":        {"/", "", []string{"Origin: http://evil.example"}, 403},
		"prefix of own Origin":  {"/", "", []string{"Origin: http://localhost:87001"}, 403},
		"opaque Origin":         {"/", "", []string{"Origin: null"}, 403},
		"cross-site":            {"/", "", []string{"Sec-Fetch-Site: cross-site"}, 403},
		"same-site":             {"/", "", []string{"Sec-Fetch-Site: same-site"}, 403},
		"two values":            {"/", "", []string{"Sec-Fetch-Site: same-origin, cross-site"}, 403},
		"another path":          {"/live/gopher://public.example/", "", nil, 405},
		"path with parameters":  {"/?x=1", "", nil, 405},
		"an unknown Fetch site": {"/", "", []string{"Sec-Fetch-Site: friend"}, 403},
	} {
		form := url.Values{"url": valid["url"], "token": valid["token"]}
		if c.token != "" {
			form.Set("token", c.token)
		}
		if w := post(h, c.target, form, c.fields...); w.Code != c.status {
			t.Errorf("%s: %d, want %d", name, w.Code, c.status)
		}
	}
	large := url.Values{"token": valid["token"], "url": {"gopher://public.example/" + strings.Repeat("a", maxForm)}}
	if w := post(h, "/", large); w.Code != 400 {
		t.Errorf("a large form: %d", w.Code)
	}
}

// TestToken checks which pages need the cookie, and how a browser gets it.
func TestToken(t *testing.T) {
	h, _ := newIsolated(t, nil)
	for _, target := range []string{"/?token=", "/?token=x", "/?token=" + h.gate.key.NewSession(), "/?x&token"} {
		if w := get(h, "GET", target); w.Code != 403 || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("%s: %d %v", target, w.Code, w.Header())
		}
	}
	w := get(h, "GET", h.TokenPath())
	cookies := w.Result().Cookies()
	if w.Code != 302 || w.Header().Get("Location") != "/" || len(cookies) != 1 {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || strings.Contains(h.TokenPath(), c.Value) {
		t.Errorf("cookie %v", c)
	}
	dir := t.TempDir()
	field := "Cookie: " + c.Name + "=" + c.Value
	file := "/live/file://" + dir + "/"
	entered := "/live;via=" + h.gate.key.Sign(guard.Permission{Level: guard.Entered}, uri.MustParse("file://"+dir+"/")) + "/file://" + dir + "/"
	page := get(h, "GET", entered, field)
	if page.Code != 200 {
		t.Errorf("with the cookie: %d %s", page.Code, page.Body)
	}
	for name, c := range map[string]struct {
		target string
		fields []string
	}{
		"no cookie":       {entered, navigation},
		"wrong cookie":    {entered, append([]string{"Cookie: " + c.Name + "=x"}, navigation...)},
		"not entered":     {file, []string{field}},
		"navigation":      {file, append([]string{field}, navigation...)}, // a redirect of another site looks the same
		"image":           {file, []string{field, "Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: image"}},
		"link of gopher":  {signed(h, from("gopher://public.example/", ""), "file:///"), []string{field}},
		"cross-site":      {file, []string{field, "Sec-Fetch-Site: cross-site"}},
		"mail from http":  {signed(h, from("http://public.example/", ""), "mid:x@y"), []string{field}},
		"imap from http":  {signed(h, from("http://public.example/", ""), "imap://private.example/"), []string{field}},
		"signed, no file": {signed(h, guard.Permission{Level: guard.Confirmed}, "file:///"), nil},
	} {
		if w := get(h, "GET", c.target, c.fields...); w.Code != 403 {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestLiveSchemes checks a Handler that permits only some schemes.
func TestLiveSchemes(t *testing.T) {
	h, n := newIsolated(t, func(o *Options) { o.Live.Schemes = []string{"gopher"} })
	for target, want := range map[string]int{
		"gopher://public.example/": 404, "http://public.example/": 403, "telnet://public.example/": 403, "file:///": 403,
	} {
		if w := get(h, "GET", "/live/"+target, navigation...); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	if got := n.take(); !slices.Equal(got, []string{"198.41.0.4:70"}) {
		t.Errorf("connections %q", got)
	}
}

// TestLiveOptions checks options that New rejects.
func TestLiveOptions(t *testing.T) {
	client := func(fetch.Policy, bool) (*fetch.Client, error) { return fetch.New(fetch.Options{}), nil }
	for name, o := range map[string]Options{
		"no client":             {Live: &Live{}},
		"public, all schemes":   {Live: &Live{Client: client}, Public: true},
		"public, files":         {Live: &Live{Client: client, Schemes: []string{"gopher", "file"}}, Public: true},
		"public, mailboxes":     {Live: &Live{Client: client, Schemes: []string{"imap"}}, Public: true},
		"public, private hosts": {Live: &Live{Client: client, Schemes: []string{"gopher"}, AllowHosts: []string{"10.0.0.1"}}, Public: true},
	} {
		o.Address, o.Schemes = testAddress, schemes.All(schemes.Options{})
		if _, err := New(o); !errors.Is(err, fetch.Usage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
