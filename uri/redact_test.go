package uri

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"nothing to hide", "get http://h/?a=b&c: 404", "get http://h/?a=b&c: 404"},
		{"password", "stat http://u:pw@h/: no such file", "stat http://u:***@h/: no such file"},
		{"password with an at sign", "http://u:p@w@h/", "http://u:***@h/"},
		{"port and at sign in the path", "http://h:80/@u", "http://h:80/@u"},
		{"two URLs", "ftp://a:b@c/ ftp://d:e@f/", "ftp://a:***@c/ ftp://d:***@f/"},
		{"no slash", "get http:user:pw@h/: no host", "get http:user:***@h/: no host"},
		{"one slash", "HTTPS:/user:pw@h/", "HTTPS:/user:***@h/"},
		{"three slashes", "http:///user:pw@h/", "http:///user:***@h/"},
		{"backslashes", `http:\\user:pw@h/`, `http:\\user:***@h/`},
		{"mistyped, with / ? and # in it", "http:user:p/w?x#y@h/", "http:user:***@h/"},
		{"mail address", "mailto:a:b@c", "mailto:a:b@c"},
		{"message", "news:a:b@c and mid:a:b@c", "news:a:b@c and mid:a:b@c"},
		{"name", "urn:isbn:1@2", "urn:isbn:1@2"},
		{"file", "file:///a:b@c", "file:///a:b@c"},
		{"time of day", "at 12:34:56@x", "at 12:34:56@x"},
		{"token", "GET /?token=t0k&a=b HTTP/1.1", "GET /?token=***&a=b HTTP/1.1"},
		{"in an error", "get http://h/?a&access_token=t0k: server answered 404", "get http://h/?a&access_token=***: server answered 404"},
		{"in quotes", `"http://h/?password=pw"`, `"http://h/?password=***"`},
		{"in a fragment", "http://h/#access_token=t&state=s", "http://h/#access_token=***&state=s"},
		{"in a URL within", "http://h/?u=http://i/?sig=x&b", "http://h/?u=http://i/?sig=***&b"},
		{"encoded name", "http://h/?%74oken=x", "http://h/?%74oken=***"},
		{"code of OAuth", "http://h/cb?code=c0de&state=s", "http://h/cb?code=***&state=s"},
		{"other codes", "?zip_code=1&barcode=2&codes=3", "?zip_code=1&barcode=2&codes=3"},
		{"SAS", "?sas=a&storage-sas=b&sasha=c", "?sas=***&storage-sas=***&sasha=c"},
		{"CSRF", "?_csrf=a&csrfmiddleware=b&XSRF=c", "?_csrf=***&csrfmiddleware=***&XSRF=***"},
		{"semicolons", "http://h/?a=b;key=c;d=e&f", "http://h/?a=b;key=***&f"},
		{"Amazon", "?X-Amz-Signature=ab&X-Amz-Date=c", "?X-Amz-Signature=***&X-Amz-Date=c"},
		{"keys", "?key=a&api_key=b&apiKey=c&keyword=d", "?key=***&api_key=***&apiKey=***&keyword=d"},
		{"words that hold a short one", "?author=a&design=b&compass=c", "?author=a&design=b&compass=c"},
		{"session", "?PHPSESSID=a&sessionid=b", "?PHPSESSID=***&sessionid=***"},
		{"no value", "?token&b", "?token&b"},
		{"empty value", "?token=&b", "?token=&b"},
	} {
		if got := Redact(c.in); got != c.want {
			t.Errorf("%s: Redact(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
		if got := Redact(c.want); got != c.want {
			t.Errorf("%s: redacted twice: %q", c.name, got)
		}
	}
}

// TestStringHidesMistypedLogin covers URIs that parse but have no host, because
// a slash is missing or duplicated before the user name.
func TestStringHidesMistypedLogin(t *testing.T) {
	for in, want := range map[string]string{
		"http:user:pw@h/":       "http:user:***@h/",
		"http:/user:pw@h/":      "http:/user:***@h/",
		"http:///user:pw@h/":    "http:///user:***@h/",
		"HTTP:////user:pw@h/":   "HTTP:////user:***@h/",
		"ftp:user:p/w?x@h/#a":   "ftp:user:***@h/#a",
		"imap:user@h/":          "imap:user@h/",
		"mailto:a:b@c":          "mailto:a:b@c",
		"news:a:b@c":            "news:a:b@c",
		"file:///a:b@c":         "file:///a:b@c",
		"http://h/a:b@c":        "http://h/a:b@c",
		"//u:pw@h/":             "//u:***@h/",
		"http://u:pw@h/?key=ab": "http://u:***@h/?key=ab",
	} {
		u := MustParse(in)
		if got := u.String(); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if _, err := ParseReference(u.String()); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

// TestRedactLinear takes hours if Redact is quadratic.
func TestRedactLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("parses 28 MB")
	}
	for _, text := range []string{"http:", "http:a:", "?token", "&key=", "http:///", "a:a", "http:a "} {
		Redact(strings.Repeat(text, 4<<20/len(text)))
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"http:user:pw@h/", "http://u:p@h/?token=x", "?a;key=b#sig=c: d", "http:http:a:b@c@d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Redact(s)
		if twice := Redact(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}
