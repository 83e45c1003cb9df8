package mirror_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/anyurl/fetch/internal/test/short"
	"github.com/anyurl/fetch/mirror"
)

// TestScope checks which URLs are requested.
func TestScope(t *testing.T) {
	t.Parallel()
	site := webSite{
		"/": `<a href=d/>`,
		"/d/": `<a href="/d/in"><a href="/up"><a href="http://b.example/x"><a href="http://www.a.example/y">
			<img src="http://cdn.example/i.png"><link rel=stylesheet href="http://cdn.example/s.css"><img src=/top.png>`,
		"/d/in": `<a href="in2">`, "/d/in2": `<a href="in3">`, "/d/in3": "3", "/up": "up", "/top.png": "png",
	}
	cdn := webSite{
		"/i.png": "png", "/s.css": `@font-face { src: url(f.woff) } p { background: url(b.png) }`, "/f.woff": "font", "/b.png": "png",
		"/page": `<img src=deep.png><a href=more>`,
	}
	b := webSite{"/x": `<a href=x2>`, "/x2": "2"}
	www := webSite{"/y": `<a href=y2>`, "/y2": "2"}
	inside := "http://a.example/d/ http://a.example/d/in http://a.example/d/in2 http://a.example/d/in3"
	all := func(lists ...string) string {
		urls := strings.Fields(strings.Join(lists, " "))
		slices.Sort(urls)
		return strings.Join(urls, " ")
	}
	match := func(text string) []*regexp.Regexp { return []*regexp.Regexp{regexp.MustCompile(text)} }
	for name, c := range map[string]struct {
		scope mirror.Scope
		want  string
	}{
		"prefix":                    {mirror.Scope{}, inside},
		"host":                      {mirror.Scope{Reach: mirror.Host}, all(inside, "http://a.example/top.png http://a.example/up")},
		"domain":                    {mirror.Scope{Reach: mirror.Domain}, all(inside, "http://a.example/top.png http://a.example/up http://www.a.example/y http://www.a.example/y2")},
		"any":                       {mirror.Scope{Reach: mirror.Any}, all(inside, "http://a.example/top.png http://a.example/up http://www.a.example/y http://www.a.example/y2 http://b.example/x http://b.example/x2 http://cdn.example/i.png http://cdn.example/s.css http://cdn.example/f.woff http://cdn.example/b.png")},
		"include":                   {mirror.Scope{Include: match(`^http://b\.`)}, all(inside, "http://b.example/x http://b.example/x2")},
		"exclude":                   {mirror.Scope{Exclude: match(`in2$`)}, "http://a.example/d/ http://a.example/d/in"},
		"exclude overrides include": {mirror.Scope{Include: match(`/x`), Exclude: match(`x2`)}, all(inside, "http://b.example/x")},
		"depth":                     {mirror.Scope{Depth: 2}, "http://a.example/d/ http://a.example/d/in http://a.example/d/in2"},
		"depth with reach host": {mirror.Scope{Depth: 1, Reach: mirror.Host},
			"http://a.example/d/ http://a.example/d/in http://a.example/top.png http://a.example/up"},
		"requisites": {mirror.Scope{Requisites: true},
			all(inside, "http://a.example/top.png http://cdn.example/b.png http://cdn.example/f.woff http://cdn.example/i.png http://cdn.example/s.css")},
		"requisites beyond the depth": {mirror.Scope{Requisites: true, Depth: 1},
			all("http://a.example/d/ http://a.example/d/in http://a.example/top.png http://cdn.example/b.png http://cdn.example/f.woff http://cdn.example/i.png http://cdn.example/s.css")},
		"accept": {mirror.Scope{Reach: mirror.Host, Accept: []string{"image/*"}}, all(inside, "http://a.example/top.png http://a.example/up")},
	} {
		t.Run(name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", site)
				w.web("b.example", b)
				w.web("cdn.example", cdn)
				w.web("www.a.example", www)
				o := w.options("http://a.example/d/")
				o.Scope = c.scope
				run(t, o)
				if got := w.requests(); got != c.want {
					t.Errorf("requests:\n%s\nwant:\n%s", got, c.want)
				}
				if files := tree(t, o.Dir, ""); name == "accept" && len(files) != 1 {
					t.Errorf("%d files remain", len(files))
				}
				run(t, o)
				if got := w.requests(); got != c.want {
					t.Errorf("again requests:\n%s\nwant:\n%s", got, c.want)
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

// TestRedirects checks that redirects are followed like links, up to a limit.
func TestRedirects(t *testing.T) {
	t.Parallel()
	chain := webSite{}
	for i, c := range "abcdefghijklmnopq" {
		chain["/"+string(c)] = "-> /" + string(rune('a'+i+1))
	}
	for _, c := range []struct {
		name  string
		site  webSite
		other webSite
		scope mirror.Scope
		want  string
	}{
		{"in scope", webSite{"/": `<a href=r>`, "/r": "-> /s", "/s": "here"}, nil, mirror.Scope{}, "/ /r /s"},
		{"out of scope", webSite{"/": `<a href=r>`, "/r": "-> http://b.example/s"}, webSite{"/s": "there"}, mirror.Scope{}, "/ /r"},
		{"requisite out of scope", webSite{"/": `<img src=r>`, "/r": "-> http://b.example/s"}, webSite{"/s": "there"}, mirror.Scope{Requisites: true}, "/ /r http://b.example/s"},
		{"requisite with two redirects", webSite{"/": `<img src="http://b.example/1">`}, webSite{"/1": "-> /2", "/2": "-> /3", "/3": "there"},
			mirror.Scope{Requisites: true}, "/ http://b.example/1 http://b.example/2 http://b.example/3"},
		{"redirect to itself", webSite{"/": `<a href=r>`, "/r": "-> /r"}, nil, mirror.Scope{}, "/" + strings.Repeat(" /r", 11)},
		{"loop of two redirects", webSite{"/": `<a href=r>`, "/r": "-> /s", "/s": "-> /r"}, nil, mirror.Scope{}, "/ /r /s"},
		{"endless chain", mergedSites(chain, webSite{"/": `<a href=a>`}), nil, mirror.Scope{}, "/ /a /b /c /d /e /f /g /h /i /j /k"},
		{"redirect adds no depth", webSite{"/": `<a href=r>`, "/r": "-> /s", "/s": `<a href=t>`, "/t": "too far"}, nil, mirror.Scope{Depth: 1}, "/ /r /s"},
		{"seed", webSite{"/": "-> http://b.example/d/"}, webSite{"/d/": `<a href=in><a href=/out>`, "/d/in": "in", "/out": "out"},
			mirror.Scope{}, "/ http://b.example/d/ http://b.example/d/in"},
		{"target with a user", webSite{"/": `<a href=r><a href="http://u:p@a.example/s">`, "/r": "-> http://u:p@a.example/t", "/s": "s", "/t": "t"}, nil, mirror.Scope{}, "/ /r /s /t"},
		{"long target", webSite{"/": "-> /" + strings.Repeat("x", 9<<10)}, nil, mirror.Scope{}, "/"},
		{"session as target", webSite{"/": "-> telnet://a.example/"}, nil, mirror.Scope{Reach: mirror.Any}, "/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			short.Sample(t, 6)
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.web("a.example", c.site)
				w.web("b.example", c.other)
				o := w.options("http://a.example/")
				o.Scope = c.scope
				for range 2 {
					run(t, o)
					if got := strings.ReplaceAll(w.requests(), "http://a.example/", "/"); got != c.want {
						t.Errorf("requests:\n%s\nwant:\n%s", got, c.want)
					}
				}
				checkVerify(t, o.Dir)
			})
		})
	}
}

func mergedSites(a, b webSite) webSite {
	for k, v := range b {
		a[k] = v
	}
	return a
}

// TestReach checks that links between schemes are followed if the scope and the
// Policy allow them. Links to the local machine or to sessions are never
// followed.
func TestReach(t *testing.T) {
	t.Parallel()
	page := webSite{"/": `<a href="gopher://a.example/1/"><a href="ftp://a.example/f"><a href="nntp://a.example/local.test">
		<a href="telnet://a.example/"><a href="mailto:x@a.example"><a href="mid:1@a.example"><a href="file:///etc/passwd">
		<a href="imap://a.example/INBOX"><a href="rlogin://a.example/"><a href="https://a.example:22/">
		<a href="http://inner.example/"><a href="http://127.0.0.1/"><a href="http://[::1]/"><a href="gopher://localhost/">
		<a href="http://169.254.169.254/"><a href="http://a.example:25/"><a href="news:local.test"><a href="unheard-of:x">`}
	const old = " a.example:119 a.example:21 a.example:70"
	for _, c := range []struct {
		name  string
		reach mirror.Reach
		leave []string // schemes that a server may link to
		want  string
	}{
		{"prefix", mirror.Prefix, []string{"*"}, "a.example:80"},
		{"host", mirror.Host, []string{"*"}, "a.example:80" + old},
		{"any", mirror.Any, []string{"*"}, "a.example:80" + old},
		{"any, limited by the Policy", mirror.Any, nil, "a.example:21 a.example:80"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newNetwork(t)
				w.policy.Redirects = c.leave
				w.web("a.example", page)
				w.name("inner.example", "10.0.0.7")
				w.name("localhost", "127.0.0.1")
				o := w.options("http://a.example/")
				o.Scope.Reach, o.Tries = c.reach, 1
				run(t, o)
				slices.Sort(w.dialed)
				if got := slices.Compact(w.dialed); strings.Join(got, " ") != strings.Join(slices.Sorted(slices.Values(strings.Fields(c.want))), " ") {
					t.Errorf("dialed %s, want %s\n%s", got, c.want, outcomes(t, o.Dir))
				}
			})
		})
	}
}
