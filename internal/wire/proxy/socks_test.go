package proxy

import (
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/wire/httpauth"
)

func TestSOCKS4(t *testing.T) {
	const (
		request = "\x04\x01\x00\x46\xc0\x00\x02\x07\x00" // 192.0.2.7:70
		granted = "\x00\x5a\x00\x00\x00\x00\x00\x00"
	)
	runAll(t, []handshake{
		{name: "address", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, granted}}},
		{name: "server speaks first", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, granted + "220 hello\r\n"}}, rest: "220 hello\r\n"},
		{name: "user", scheme: "socks4", target: "192.0.2.7:70", opts: Options{Login: httpauth.Login{User: "mary"}},
			turns: []turn{{"\x04\x01\x00\x46\xc0\x00\x02\x07mary\x00", granted}}},
		{name: "address with socks4a", scheme: "socks4a", target: "192.0.2.7:70",
			turns: []turn{{request, granted}}},
		{name: "mapped address", scheme: "socks4", target: "[::ffff:192.0.2.7]:70",
			turns: []turn{{request, granted}}},
		{name: "name with socks4a", scheme: "socks4a", target: "h.test:65535",
			turns: []turn{{"\x04\x01\xff\xff\x00\x00\x00\x01\x00h.test\x00", granted}}},
		{name: "name with socks4", scheme: "socks4", target: "h.test:70", err: ErrTarget},
		{name: "IPv6", scheme: "socks4a", target: "[2001:db8::1]:70", err: ErrTarget},
		{name: "address reserved by SOCKS4a", scheme: "socks4", target: "0.0.0.1:70", err: ErrTarget},
		{name: "NUL in the user", scheme: "socks4", target: "192.0.2.7:70", opts: Options{Login: httpauth.Login{User: "a\x00b"}}, err: ErrOption},
		{name: "rejected", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, "\x00\x5b\x00\x00\x00\x00\x00\x00"}}, err: &RefusedError{"socks4", 91}},
		{name: "identd", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, "\x00\x5d\x00\x00\x00\x00\x00\x00"}}, err: &RefusedError{"socks4", 93}},
		{name: "reply of SOCKS5", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, "\x05\x00\x00\x01\x00\x00\x00\x00"}}, err: ErrMalformed},
		{name: "closed at once", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, ""}}, err: ErrClosed},
		{name: "closed within the reply", scheme: "socks4", target: "192.0.2.7:70",
			turns: []turn{{request, granted[:7]}}, err: ErrClosed},
	})
}

func TestSOCKS5(t *testing.T) {
	const (
		hello   = "\x05\x01\x00"
		open    = "\x05\x00"
		request = "\x05\x01\x00\x01\xc0\x00\x02\x07\x00\x46" // 192.0.2.7:70
		granted = "\x05\x00\x00\x01\x7f\x00\x00\x01\x04\x38"
		hello2  = "\x05\x02\x00\x02"
		login   = "\x01\x04mary\x06s3cret"
	)
	mary := Options{Login: httpauth.Login{User: "mary", Password: "s3cret"}}
	refused := func(code byte) handshake {
		return handshake{name: "rejected", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x05" + string(rune(code)) + "\x00\x01\x00\x00\x00\x00\x00\x00"}},
			err:   &RefusedError{"socks5", int(code)}}
	}
	runAll(t, []handshake{
		{name: "address", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, granted}}},
		{name: "server speaks first", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, granted + "200 news\r\n"}}, rest: "200 news\r\n"},
		{name: "IPv6 address", scheme: "socks5", target: "[2001:db8::1]:70",
			turns: []turn{{hello, open}, {"\x05\x01\x00\x04\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01\x00\x46", granted}}},
		{name: "name with socks5", scheme: "socks5", target: "h.test:70", err: ErrTarget},
		{name: "name with socks5h", scheme: "socks5h", target: "h.test:70",
			turns: []turn{{hello, open}, {"\x05\x01\x00\x03\x06h.test\x00\x46", granted}}},
		{name: "address with socks5h", scheme: "socks5h", target: "192.0.2.7:70", // curl test 720
			turns: []turn{{hello, open}, {request, granted}}},
		{name: "name of 255 bytes", scheme: "socks5h", target: strings.Repeat("x", 255) + ":70",
			turns: []turn{{hello, open}, {"\x05\x01\x00\x03\xff" + strings.Repeat("x", 255) + "\x00\x46", granted}}},
		{name: "bound to a name", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x05\x00\x00\x03\x03abc\x00\x01!"}}, rest: "!"},
		{name: "bound to the longest name", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x05\x00\x00\x03\xff" + strings.Repeat("x", 255) + "\x00\x01!"}}, rest: "!"},
		{name: "bound to IPv6", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x05\x00\x00\x04" + strings.Repeat("x", 16) + "\x00\x01!"}}, rest: "!"},
		{name: "login", scheme: "socks5", target: "192.0.2.7:70", opts: mary,
			turns: []turn{{hello2, "\x05\x02"}, {login, "\x01\x00"}, {request, granted}}},
		{name: "login not required", scheme: "socks5", target: "192.0.2.7:70", opts: mary,
			turns: []turn{{hello2, open}, {request, granted}}},
		{name: "empty password", scheme: "socks5", target: "192.0.2.7:70", opts: Options{Login: httpauth.Login{User: "u"}},
			turns: []turn{{hello2, "\x05\x02"}, {"\x01\x01u\x00", "\x01\x00"}, {request, granted}}},
		{name: "login rejected", scheme: "socks5", target: "192.0.2.7:70", opts: mary,
			turns: []turn{{hello2, "\x05\x02"}, {login, "\x01\x01"}}, err: &AuthRequiredError{Tried: true}},
		{name: "login required", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, "\x05\xff"}}, err: &AuthRequiredError{}},
		{name: "login method not offered", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, "\x05\x02"}}, err: ErrMalformed},
		{name: "unknown method", scheme: "socks5", target: "192.0.2.7:70", opts: mary,
			turns: []turn{{hello2, "\x05\x01"}}, err: ErrMalformed},
		{name: "user of 256 bytes", scheme: "socks5", target: "192.0.2.7:70",
			opts: Options{Login: httpauth.Login{User: strings.Repeat("u", 256)}}, err: ErrOption},
		{name: "password of 256 bytes", scheme: "socks5", target: "192.0.2.7:70",
			opts: Options{Login: httpauth.Login{User: "u", Password: strings.Repeat("p", 256)}}, err: ErrOption},
		{name: "HTTP proxy", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, "HTTP/1.0 400 Bad Request\r\n"}}, err: ErrMalformed},
		{name: "wrong version in the reply", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x04\x00\x00\x01\x00\x00\x00\x00\x00\x00"}}, err: ErrMalformed},
		{name: "wrong version of the login", scheme: "socks5", target: "192.0.2.7:70", opts: mary,
			turns: []turn{{hello2, "\x05\x02"}, {login, "\x05\x00"}}, err: ErrMalformed},
		{name: "unknown address type", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, "\x05\x00\x00\x02\x00\x00\x00\x00\x00\x00"}}, err: ErrMalformed},
		{name: "closed at once", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, ""}}, err: ErrClosed},
		{name: "closed within the reply", scheme: "socks5", target: "192.0.2.7:70",
			turns: []turn{{hello, open}, {request, granted[:9]}}, err: ErrClosed},
		refused(1), refused(2), refused(5), refused(8), refused(0x7f),
	})
}

func TestRefusedErrorUnsupported(t *testing.T) {
	for _, c := range []struct {
		err  RefusedError
		want bool
	}{
		{RefusedError{"http", 405}, true},
		{RefusedError{"http", 501}, true},
		{RefusedError{"http", 505}, true},
		{RefusedError{"http", 503}, false},
		{RefusedError{"http", 403}, false},
		{RefusedError{"http", 7}, false},
		{RefusedError{"socks4", 91}, false},
		{RefusedError{"socks5", 5}, false},
		{RefusedError{"socks5", 7}, true},
		{RefusedError{"socks5", 8}, true},
	} {
		if got := c.err.Unsupported(); got != c.want {
			t.Errorf("%v: %v", &c.err, got)
		}
	}
}

func TestRefusedErrorText(t *testing.T) {
	for _, c := range []struct {
		err  RefusedError
		want string
	}{
		{RefusedError{"http", 403}, "proxy rejected the request: http 403"},
		{RefusedError{"socks4", 91}, "proxy rejected the request: socks4 91 (rejected or failed)"},
		{RefusedError{"socks5", 2}, "proxy rejected the request: socks5 2 (not allowed by its rules)"},
		{RefusedError{"socks5", 99}, "proxy rejected the request: socks5 99"},
	} {
		if got := c.err.Error(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
