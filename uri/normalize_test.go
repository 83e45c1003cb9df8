package uri

import (
	"strings"
	"testing"
)

func TestNormalize(t *testing.T) {
	for _, c := range []struct{ in, syntax, scheme string }{
		{"", "", ""},
		{"HTTP://U%41:P%3a@H%41.Example:0080/%7Ea/../%7eb?%7e%3d#%5a",
			"http://UA:P%3A@ha.example:0080/~b?~%3D#Z", "http://UA:P%3A@ha.example:0080/~b?~%3D#Z"},
		{"http://h:", "http://h:", "http://h/"},
		{"http://h:80?q", "http://h:80?q", "http://h/?q"},
		{"http:", "http:", "http:"},    // no authority and therefore no root path
		{"x://h:", "x://h:", "x://h"},  // unknown scheme, empty port
		{"//h:80", "//h:80", "//h:80"}, // no scheme and therefore no default port
		{"telnet://h:23", "telnet://h:23", "telnet://h"},
		{"https://h:80/", "https://h:80/", "https://h:80/"},
		{"file://LOCALHOST/a", "file://localhost/a", "file:///a"},
		{"file://%6Cocalhost:/a", "file://localhost:/a", "file:///a"},
		{"file:/a", "file:/a", "file:///a"},
		{"file:/.//a", "file:/.//a", "file:////a"},
		{"file:a", "file:a", "file:a"},
		{"file://h/a", "file://h/a", "file://h/a"},
		{"ipfs://QmAb/a", "ipfs://QmAb/a", "ipfs://QmAb/a"}, // the case of base 58 is significant,
		{"IPFS://zAb:443/a", "ipfs://zAb:443/a", "ipfs://zAb/a"},
		{"ipfs://BAFY/a", "ipfs://bafy/a", "ipfs://bafy/a"}, // but not that of base 32
		{"http://QmAb/a", "http://qmab/a", "http://qmab/a"},
		{"file://u@localhost/a", "file://u@localhost/a", "file://u@localhost/a"},
		{"a/../b", "a/../b", "a/../b"},    // relative paths keep their dot segments,
		{"/a/../b", "/a/../b", "/a/../b"}, // which depend on the base URI
		{"//H/a/../b", "//h/b", "//h/b"},
		{"urn:A/../b", "urn:A/../b", "urn:A/../b"},
		{"a:/.//b", "a:/.//b", "a:/.//b"},
		{"a:/b/..//c", "a:/.//c", "a:/.//c"},
		{"a:/%2e%2E//c", "a:/.//c", "a:/.//c"},
		{"./a%3Ab", "./a%3Ab", "./a%3Ab"},
		{"//127.0.0.%31", "//127.0.0.1", "//127.0.0.1"},
		{"//[2001:DB8::A]", "//[2001:db8::a]", "//[2001:db8::a]"},
		{"//%C3%89", "//%C3%89", "//%C3%89"},
		{"//%c3%89", "//%C3%89", "//%C3%89"},
		{"http://h/%00%0d%2f%25", "http://h/%00%0D%2F%25", "http://h/%00%0D%2F%25"},
	} {
		for l, want := range map[Level]string{Syntax: c.syntax, ByScheme: c.scheme} {
			if got := MustParse(c.in).Normalize(l); got.Unredacted() != want {
				t.Errorf("%q normalizes by %v to %q, want %q", c.in, l, got.Unredacted(), want)
			}
		}
	}
	if got := MustParse("//127.0.0.%31").Normalize(Syntax).HostKind(); got != IPv4 {
		t.Errorf("the host became %v", got)
	}
}

func TestEquivalent(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		syntax, scheme bool
	}{
		{"http://h", "http://h", true, true},
		{"http://h", "http://h/", false, true},
		{"http://h", "https://h", false, false},
		{"http://h/?", "http://h/", false, false},
		{"http://h/#", "http://h/", false, false},
		{"http://h/%2F", "http://h//", false, false},
		{"http://u:a@h/", "http://u:b@h/", false, false}, // not by what is printed
		{"gopher://h:70", "gopher://H/", false, true},
		{"file:/a", "FILE://LocalHost/a", false, true},
	} {
		a, b := MustParse(c.a), MustParse(c.b)
		if got := Equivalent(a, b, Syntax); got != c.syntax {
			t.Errorf("%q and %q by syntax: %v", c.a, c.b, got)
		}
		if got := Equivalent(a, b, ByScheme); got != c.scheme {
			t.Errorf("%q and %q by scheme: %v", c.a, c.b, got)
		}
	}
}

// TestDefaultPort compares the ports with the IANA service name registry.
func TestDefaultPort(t *testing.T) {
	for port, schemes := range map[uint16]string{
		21: "ftp", 22: "ssh sftp", 23: "telnet tn3270", 70: "gopher gophers", 80: "http ws", 119: "nntp news",
		143: "imap", 210: "wais", 389: "ldap", 443: "https wss", 513: "rlogin", 563: "nntps snews",
		990: "ftps", 993: "imaps", 1525: "prospero",
	} {
		for _, scheme := range strings.Fields(schemes) {
			if got, ok := DefaultPort(scheme); got != port || !ok {
				t.Errorf("DefaultPort(%q) = %d, %v", scheme, got, ok)
			}
		}
	}
	for _, scheme := range []string{"", "file", "mailto", "HTTP"} {
		if got, ok := DefaultPort(scheme); got != 0 || ok {
			t.Errorf("DefaultPort(%q) = %d, %v", scheme, got, ok)
		}
	}
}
