package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// TestNegotiate authenticates with Kerberos to apache2 and through squid, with
// the ticket of kinit, a keytab and a password.
func TestNegotiate(t *testing.T) {
	kdc := peer.KDC(t)
	keytab := filepath.Join(kdc.Dir, "http.keytab")
	env := []string{"KRB5_CONFIG=" + filepath.Join(kdc.Dir, "krb5.conf"), "KRB5RCACHENAME=none:"} // TMPDIR may be closed to the servers
	site := peer.Apache(t, peer.ApacheOptions{Env: env, Config: []string{
		"LoadModule auth_gssapi_module /usr/lib/apache2/modules/mod_auth_gssapi.so",
		`<Location "/private">`, "AuthType GSSAPI", "AuthName peer", "GssapiCredStore keytab:" + keytab, "Require valid-user", "</Location>",
		`Redirect "/private/again" "/private/hello"`}})
	site.Put("private/hello", []byte("hello\n"))
	site.Put("hello", []byte("hello\n"))
	proxy := peer.Squid(t, peer.ProxyOptions{Env: env, Config: []string{
		"auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -k " + keytab + " -s HTTP/localhost@" + peer.Realm,
		"acl login proxy_auth REQUIRED", "http_access deny !login"}})
	cache := peer.Kinit(t, kdc)
	local := func(addr string) string { return strings.Replace(addr, "127.0.0.1", "localhost", 1) }
	url := "http://" + local(site.Addr) + "/private/hello"
	open := "http://" + local(site.Addr) + "/hello"
	via := "http://" + local(proxy.Addr)
	login := peer.User + "@" + peer.Realm + ":" + peer.Password
	for _, c := range []struct {
		name   string
		cache  string
		keytab string
		args   []string
		code   int
		stderr string
	}{
		{"ticket", cache, "", []string{"--negotiate", "-u", ":", url}, 0, ""},
		{"ticket, two requests", cache, "", []string{"--negotiate", "-u", ":", "-w", "", "-o", filepath.Join(t.TempDir(), "x"), url}, 0, ""},
		{"redirect within the origin", cache, "", []string{"--negotiate", "-u", ":", strings.Replace(url, "hello", "again", 1)}, 0, ""},
		{"keytab", "", filepath.Join(kdc.Dir, "user.keytab"), []string{"--negotiate", "-u", ":", url}, 0, ""},
		{"password", "", "", []string{"--negotiate", "-u", login, url}, 0, ""},
		{"password, with a route for all hosts", "", "", []string{"--negotiate", "-u", login, "--connect-to", "::" + site.Addr, url}, 0, ""},
		{"wrong password", "", "", []string{"--negotiate", "-u", peer.User + ":wrong", url}, 6, "Kerberos"},
		{"unknown user", "", "", []string{"--negotiate", "-u", "mallory:x", url}, 6, "Kerberos"},
		{"no credentials", "", "", []string{"--negotiate", "-u", ":", url}, 6, "kinit"},
		{"without -u", cache, "", []string{"--negotiate", url}, 2, "-u :"},
		{"without --negotiate", cache, "", []string{"-u", login, url}, 6, "401"},
		{"address instead of a name", cache, "", []string{"--negotiate", "-u", ":", "http://" + site.Addr + "/private/hello"}, 6, "Kerberos"},
		{"proxy, ticket", cache, "", []string{"-x", via, "--proxy-negotiate", "-U", ":", open}, 0, ""},
		{"proxy, password", "", "", []string{"-x", via, "--proxy-negotiate", "-U", login, open}, 0, ""},
		{"proxy with CONNECT", cache, "", []string{"-p", "-x", via, "--proxy-negotiate", "-U", ":", open}, 0, ""},
		{"proxy and server", cache, "", []string{"-x", via, "--proxy-negotiate", "-U", ":", "--negotiate", "-u", ":", url}, 0, ""},
		{"SOCKS proxy", "", "", []string{"-x", "socks5://127.0.0.1:1", "--proxy-negotiate", "-U", login, open}, 12, "works only with http and https proxies"},
		{"proxy without credentials", "", "", []string{"-x", via, "--proxy-negotiate", "-U", ":", open}, 6, "kinit"},
		{"proxy without --proxy-negotiate", cache, "", []string{"-x", via, open}, 6, "407"},
	} {
		t.Run(c.name, func(t *testing.T) {
			none := filepath.Join(t.TempDir(), "none")
			if c.cache != "" {
				none = c.cache
			}
			t.Setenv("KRB5_CONFIG", filepath.Join(kdc.Dir, "krb5.conf"))
			t.Setenv("KRB5CCNAME", "FILE:"+none)
			t.Setenv("KRB5_CLIENT_KTNAME", c.keytab)
			var out, stderr bytes.Buffer
			code := app.Run(append([]string{"-q", "--noproxy", "", "--retry", "0"}, c.args...), strings.NewReader(""), &out, &stderr)
			if code != c.code || !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("exit code %d, want %d: %q, %s", code, c.code, &out, &stderr)
			}
		})
	}
}

// TestHostileKDC checks that a KDC cannot make the command wait or use much
// memory.
func TestHostileKDC(t *testing.T) {
	s := peer.Apache(t, peer.ApacheOptions{Config: []string{"Redirect 401 /", `Header always set WWW-Authenticate Negotiate`}})
	for name, answer := range map[string]string{
		"4 GiB": "\xff\xff\xff\xff", "nothing": "", "no message": "\x00\x00\x00\x04abcd", "empty": "\x00\x00\x00\x00",
		"ends early": "\x00\x00\x01\x00abc",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					c.Read(make([]byte, 4096))
					c.Write([]byte(answer))
					c.Close()
				}
			}()
			config := filepath.Join(t.TempDir(), "krb5.conf")
			text := "[libdefaults]\n default_realm = R\n[realms]\n R = {\n  kdc = " + l.Addr().String() + "\n }\n"
			if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("KRB5_CONFIG", config)
			t.Setenv("KRB5CCNAME", filepath.Join(t.TempDir(), "none"))
			var out, stderr bytes.Buffer
			code := app.Run([]string{"-q", "--noproxy", "*", "--retry", "0", "--negotiate", "-u", "a:b", "http://" + s.Addr + "/"},
				strings.NewReader(""), &out, &stderr)
			if code == 0 || code == 1 {
				t.Errorf("exit code %d, %s", code, &stderr)
			}
		})
	}
}
