package archive

import "testing"

func isWeb(scheme string) bool { return scheme != "ftp" }

// TestIdentity checks which parts of a URL do not identify an object.
func TestIdentity(t *testing.T) {
	t.Parallel()
	const hex = "0123456789abcdef0123456789ABCDEF"
	for _, c := range []struct{ name, text, want string }{
		{"no session", "http://h/a;b=1/c?d=1&&e", "http://h/a;b=1/c?d=1&&e"},
		{"empty query", "http://h/a?", "http://h/a?"},
		{"session of Java", "http://h/a;jsessionid=1.x", "http://h/a"},
		{"session of Java in a folder, with a query", "https://h/a;x=1;JSESSIONID=1/b?c", "https://h/a;x=1/b?c"},
		{"session as the only parameter", "http://h/a?PHPSESSID=1", "http://h/a"},
		{"session before a parameter", "http://h/a?PHPSESSID=1&b=2", "http://h/a?b=2"},
		{"session after a parameter", "http://h/a?b=2&aspsessionidabcdefgh=abcdefghijklmnop", "http://h/a?b=2"},
		{"empty session", "http://h/a?phpsessid=", "http://h/a?phpsessid="},
		{"hexadecimal sid", "http://h/a?t=1&sid=" + hex, "http://h/a?t=1"},
		{"short sid", "http://h/a?t=1&sid=12", "http://h/a?t=1&sid=12"},
		{"sid of letters", "http://h/a?s=abcdefghijklmnopqrstuvwxyzabcdef", "http://h/a?s=abcdefghijklmnopqrstuvwxyzabcdef"},
		{"session of ColdFusion", "http://h/a?CFID=1&b=2&CFTOKEN=3", "http://h/a?b=2"},
		{"cfid without a token", "http://h/a?cfid=1", "http://h/a?cfid=1"},
		{"session of ASP.NET", "http://h/(S(3ytzcr55kv0lvg45jbmvkg55))/a.aspx", "http://h/a.aspx"},
		{"session of ASP.NET as the host", "http://(S(3ytzcr55kv0lvg45jbmvkg55))/a", "http://(S(3ytzcr55kv0lvg45jbmvkg55))/a"},
		{"session of each kind of letter and digit", "http://h/a?sessionid=0123456789abyzABYZ", "http://h/a"},
		{"session with the characters next to letters and digits", "http://h/a?sessid=0123456789abcd/&zenid=0123456789abcd:&oscsid=0123456789abcd@&session_id=0123456789abcd[",
			"http://h/a?sessid=0123456789abcd/&zenid=0123456789abcd:&oscsid=0123456789abcd@&session_id=0123456789abcd["},
		{"short session", "http://h/a?sessionid=0123456789abcde", "http://h/a?sessionid=0123456789abcde"},
		{"shortest session", "http://h/a?sessionid=0123456789abcdef", "http://h/a"},
		{"ignored parameter", "http://h/a;token=1?b=2&Token=3", "http://h/a?b=2"},
		{"scheme of a program", "web://h/a;jsessionid=1", "web://h/a"},
		{"other scheme", "ftp://h/a;jsessionid=1", "ftp://h/a;jsessionid=1"},
	} {
		r := IdentityRules{IsWeb: isWeb, Ignored: []string{"token"}}
		if got := r.Identity(c.text); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
		if again := r.Identity(c.want); again != c.want {
			t.Errorf("%s: the identity of %s is %s", c.name, c.want, again)
		}
	}
	r := IdentityRules{IsWeb: isWeb, KeepSessions: true}
	const text = "http://h/(S(3ytzcr55kv0lvg45jbmvkg55))/a;jsessionid=1?phpsessid=1&cfid=1&cftoken=2"
	if got := r.Identity(text); got != text {
		t.Errorf("with KeepSessions: %s", got)
	}
}
