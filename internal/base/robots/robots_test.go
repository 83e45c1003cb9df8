package robots

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/anyurl/fetch/internal/test/cputime"
)

func parse(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestPatterns matches one rule with one path. The comments name the section of
// RFC 9309 or describe the case.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"/", "/x", true},
		{"", "/x", false}, // an empty pattern matches no path
		{"/fish", "/fish.html", true},
		{"/fish", "/Fish", false}, // case-sensitive
		{"/fish", "/x/fish", false},
		{"fish", "/fish", false},
		{"/fish/", "/fish", false},
		{"/fish*", "/fishheads/x", true},
		{"/*.gif$", "/a/b.gif", true}, // 2.2.3
		{"/*.gif$", "/a/b.gif?x", false},
		{"/*.gif", "/a/b.gif?x", true},
		{"/a$", "/a", true},
		{"/a$", "/ab", false},
		{"/a*a$", "/a", false}, // parts do not overlap
		{"/a*a$", "/aba", true},
		{"/a**b", "/ab", true},
		{"*", "/", true},
		{"*b*d$", "/abcbd", true},
		{"*$", "/x", true},
		{"/a$b", "/a$b", true}, // "$" inside a pattern is literal
		{"/a$$", "/a$", true},
		{"/a$$", "/a$b", false},
		{"/f-%2A.html", "/f-*.html", true}, // 2.2.3, literal characters
		{"/f-%2a.html", "/f-%2A.html", true},
		{"/f-%2A.html", "/f-x.html", false},
		{"/f-%24", "/f-$", true},
		{"/f-%24", "/f-", false},
		{"/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar", true}, // 2.2.2, the table
		{"/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https://foo.bar", true},
		{"/foo/bar/\u30c4", "/foo/bar/%E3%83%84", true},
		{"/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84", true},
		{"/foo/bar/%62%61%7A", "/foo/bar/baz", true},
		{"/foo/bar/baz", "/foo/bar/%62%61%7a", true},
		{"/a%3cd", "/a%3Cd", true},
		{"/a%2Fb", "/a/b", false}, // reserved in a path
		{"/a b", "/a%20b", true},
		{"/100%", "/100%25", true}, // not a percent-encoding
		{"/%2", "/%252", true},
		{"/%%32%35", "/%25", false},
		{"/%zz%2g", "/%25zz%252g", true},
		{"/%aa%af%fa%ff%09%90", "/%AA%AF%FA%FF%09%90", true},
	} {
		f := parse(t, "User-agent: *\nDisallow: "+c.pattern)
		if got := !f.Allowed("fetch", c.path); got != c.want {
			t.Errorf("%q matches %q: %v, want %v", c.pattern, c.path, got, c.want)
		}
	}
}

func TestAllowed(t *testing.T) {
	for _, c := range []struct{ name, text, path, agent string }{
		{"-nothing", "", "/x", "fetch"},
		{"+all", "User-agent: *\nDisallow: /", "/x", "fetch"},
		{"-robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", "fetch"},
		{"-longest", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", "fetch"},
		{"+longest, the other order", "User-agent: *\nDisallow: /a/b\nAllow: /a", "/a/b/c", "fetch"},
		{"+lengths are those of the normal form", "User-agent: *\nAllow: /%61zAZ09\nDisallow: /******x", "/azAZ09x", "fetch"},
		{"-allow wins a tie", "User-agent: *\nAllow: /a\nDisallow: /a", "/a", "fetch"},
		{"-allow wins a tie, the other order", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", "fetch"},
		{"-empty disallow", "User-agent: *\nDisallow:", "/x", "fetch"},
		{"-rules before any group", "Disallow: /\nUser-agent: *\nDisallow: /a", "/x", "fetch"},
		{"+case of the agent", "USER-AGENT: FETCH\ndisallow: /", "/x", "Fetch/1.0 (+mail)"},
		{"+version in the line", "User-agent: fetch/0.1\nDisallow: /", "/x", "fetch"},
		{"-no substring", "User-agent: fe\nDisallow: /", "/x", "fetch"},
		{"-nor the other way", "User-agent: fetcher\nDisallow: /", "/x", "fetch"},
		{"-own group hides that for all", "User-agent: *\nDisallow: /\nUser-agent: fetch\nAllow: /b", "/x", "fetch"},
		{"-own empty group too", "User-agent: *\nDisallow: /\nUser-agent: fetch", "/x", "fetch"},
		{"+groups are merged", "User-agent: fetch\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: Fetch\nDisallow: /b", "/a", "fetch"},
		{"+the second too", "User-agent: fetch\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: Fetch\nDisallow: /b", "/b", "fetch"},
		{"+many agents", "User-agent: a\nUser-agent: fetch\n\nSitemap: http://x/\nUser-agent: b\nDisallow: /", "/x", "fetch"},
		{"-a rule ends the agents", "User-agent: fetch\nDisallow:\nUser-agent: b\nDisallow: /", "/x", "fetch"},
		{"+crawl-delay does not", "User-agent: fetch\nCrawl-delay: 1\nUser-agent: b\nDisallow: /", "/x", "fetch"},
		{"+star with a word behind", "User-agent: * all\nDisallow: /", "/x", "fetch"},
		{"-star as a part", "User-agent: *x\nDisallow: /", "/x", "fetch"},
		{"+all letters of an agent", "User-agent: azAZ-_/1\nDisallow: /", "/x", "AZaz-_.2"},
		{"-agent without a token", "User-agent: 1x\nDisallow: /", "/x", "1x"},
		{"+no agent", "User-agent:\nDisallow:\nUser-agent: *\nDisallow: /", "/x", ""},
		{"-no colon", "User-agent: *\nDisallow /", "/x", "fetch"},
		{"+comments", "User-agent: * # all\nDisallow: /x # this", "/x", "fetch"},
		{"+mark, CR, CRLF", "\ufeffUser-agent: *\rAllow: /y\r\n\r\nDisallow: /x", "/x", "fetch"},
		{"+spaces", " \tUser-agent \t: *\n\tDisallow\t:\t/x \t", "/x", "fetch"},
		{"-HTML", "<html><head><title>User-agent: *</title>\n<p>Disallow: /", "/x", "fetch"},
		{"+bytes", "\x00\xff\nUser-agent: *\nDisallow: /\xff", "/%FFx", "fetch"},
	} {
		if got, want := parse(t, c.text).Allowed(c.agent, c.path), c.name[0] == '-'; got != want {
			t.Errorf("%s: allowed %v, want %v", c.name[1:], got, want)
		}
	}
}

func TestDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"User-agent: *\nCrawl-delay: 2.5":                                                   2500 * time.Millisecond,
		"Crawl-delay: 9\nUser-agent: *":                                                     0,
		"User-agent: *\nCrawl-delay: -1":                                                    0,
		"User-agent: *\nCrawl-delay: NaN":                                                   0,
		"User-agent: *\nCrawl-delay: 1e300":                                                 24 * time.Hour,
		"User-agent: *\nCrawl-delay: soon":                                                  0,
		"User-agent: slow\nCrawl-delay: 60\nUser-agent: *\nDisallow: /":                     0,
		"User-agent: fetch\nCrawl-delay: 1\nDisallow:\nUser-agent: fetch\nCrawl-delay: 3\n": 3 * time.Second,
		"User-agent: *\nCrawl-delay: 7\nDisallow:\nUser-agent: fetch\nDisallow: /a":         0,
	} {
		if got := parse(t, text).Delay("fetch"); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestSize verifies that a line truncated by the size limit is ignored, because
// it could have another meaning.
func TestSize(t *testing.T) {
	text := "User-agent: *\nDisallow: /a\n#" + strings.Repeat("x", MaxSize)
	cut := text[:MaxSize-len("\nDisallow: /")] + "\nDisallow: /only/this\n"
	for _, text := range []string{text, cut} {
		f := parse(t, text)
		if f.Allowed("fetch", "/a") || !f.Allowed("fetch", "/b") {
			t.Errorf("file of %d bytes: wrong rules apply", len(text))
		}
	}
	last := "\nUser-agent: *\nDisallow: /a"
	if f := parse(t, "#"+strings.Repeat("x", MaxSize-1-len(last))+last); f.Allowed("fetch", "/a") {
		t.Error("the last line of a file of the maximum size was ignored")
	}
	if f := parse(t, "User-agent: *\n"+strings.Repeat("Disallow: /"+strings.Repeat("a", 99)+"\n", 50)); f.Size() < 5000 {
		t.Errorf("the size of 50 rules of 100 bytes is %d", f.Size())
	}
	if f := parse(t, strings.Repeat("User-agent: a\n", 100)); f.Size() < 1600 {
		t.Errorf("the size of 100 agents is %d", f.Size())
	}
	if f, err := Parse(io.MultiReader(strings.NewReader("User-agent: *\n"), iotest.ErrReader(io.ErrUnexpectedEOF))); !errors.Is(err, io.ErrUnexpectedEOF) || f.Empty() {
		t.Errorf("got %v, %v", f, err)
	}
}

// TestLinear parses a file that would take minutes with a quadratic algorithm.
func TestLinear(t *testing.T) {
	f := parse(t, "User-agent: *\nDisallow: /"+strings.Repeat("*a", MaxSize/2-50)+"b$")
	cputime.Limit(t, 5*time.Second, func() {
		if !f.Allowed("fetch", "/"+strings.Repeat("a", 1<<20)) {
			t.Error("the pattern matches")
		}
	})
}

func TestCaps(t *testing.T) {
	for _, c := range []struct {
		text string
		want Caps
	}{
		{"CAPS\r\n\r\n## made by hand\r\nCapsVersion=1\r\nExpireCapsAfter=1800\r\n\r\nPathDelimeter=/\r\nPathIdentity=.\r\n", Caps{1, 30 * time.Minute, "/"}}, // as Gophernicus 3.1.1 writes it
		{"CAPS\npathdelimiter = :\n", Caps{Delimiter: ":"}},
		{"CAPS\nExpireCapsAfter=-5\nCapsVersion=x\n=\n", Caps{}},
		{"ExpireCapsAfter=1\n", Caps{}}, // not a caps.txt file
		{"CAPS=1\nCapsVersion=1\n", Caps{}},
		{"", Caps{}},
	} {
		if got, err := ParseCaps(strings.NewReader(c.text)); got != c.want || err != nil {
			t.Errorf("%q: got %+v, %v, want %+v", c.text, got, err, c.want)
		}
	}
}

// FuzzRobots verifies that any text is accepted, that normalizing twice has no
// further effect, and that allow rules never block a path.
func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /%61\r\nCrawl-delay: 1e9", "fetch/1", "/a%2ab?x=%3a//")
	f.Add("\ufeffuser-agent:fetch\rdisallow:*%", "Fetch", "%")
	f.Add("User-agent: a\nUser-agent: *\nDisallow: /$$", "", "/$?%2F$")
	f.Fuzz(func(t *testing.T, text, agent, path string) {
		file, err := Parse(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := file.Delay(agent); d < 0 || d > 24*time.Hour {
			t.Errorf("delay %v", d)
		}
		for _, s := range []string{text, path} {
			if once := normalizePattern(s); normalizePattern(once) != once {
				t.Errorf("%q: %q, then %q", s, once, normalizePattern(once))
			}
		}
		allowed := file.Allowed(agent, path)
		if file.Allowed(agent, normalizePattern(path)) != allowed && !strings.ContainsAny(path, "*$") && path != "/robots.txt" && normalizePattern(path) != "/robots.txt" {
			t.Errorf("%q and its normal form differ", path)
		}
		for i := range file.groups {
			for j := range file.groups[i].rules {
				file.groups[i].rules[j].allow = true
			}
		}
		if !file.Allowed(agent, path) {
			t.Error("blocked, although all rules allow")
		}
		_, _ = ParseCaps(strings.NewReader(text))
	})
}
