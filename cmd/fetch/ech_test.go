package main

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestECH checks Encrypted Client Hello with the HTTPS records of unbound, which
// dnsdist answers, and servers of package crypto/tls and of NSS.
func TestECH(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	cert := peer.NewCert(t, peer.CertOptions{Hosts: []string{"secret.test", "public.test", "127.0.0.1"}})
	inner := peer.NewCert(t, peer.CertOptions{Hosts: []string{"secret.test"}})
	key, old, next := peer.NewECHKey(t, "public.test", 1), peer.NewECHKey(t, "public.test", 2), byte(3)
	one := func() []tls.EncryptedClientHelloKey {
		return []tls.EncryptedClientHelloKey{key.EncryptedClientHelloKey}
	}
	none := func() []tls.EncryptedClientHelloKey { return []tls.EncryptedClientHelloKey{} }
	always := func() []tls.EncryptedClientHelloKey {
		next++
		return []tls.EncryptedClientHelloKey{peer.NewECHKey(t, "public.test", next).EncryptedClientHelloKey}
	}
	retry := peer.ECH(t, cert, one, tls.CurveP256) // answers with HelloRetryRequest
	withECH, without, changing := peer.ECH(t, cert, one), peer.ECH(t, cert, none), peer.ECH(t, cert, always)
	innerOnly := peer.ECH(t, inner, none)
	later := strings.Replace(string(key.List), "\xfe\x0d", "\xfe\x99", 1)
	var records []string
	record := func(s *peer.ECHServer, list string) {
		records = append(records, fmt.Sprintf("_%s._https.secret.test. HTTPS 1 . ech=%s", portOf(s.Addr), base64.StdEncoding.EncodeToString([]byte(list))))
	}
	servers := map[string]*peer.ECHServer{"good": withECH, "disabled": without, "changing": changing, "inner": innerOnly, "retry": retry}
	for name, c := range map[string]struct {
		keys func() []tls.EncryptedClientHelloKey
		list string
	}{
		"stale": {one, string(old.List)}, "later": {one, later}, "no record": {one, ""},
	} {
		s := peer.ECH(t, cert, c.keys)
		if servers[name] = s; c.list != "" {
			record(s, c.list)
		}
	}
	for _, s := range []*peer.ECHServer{withECH, without, changing, innerOnly, retry} {
		record(s, string(key.List))
	}
	nss := func(name string, o peer.SelfservOptions, stale bool) {
		if o.Cert == nil {
			o.Cert = cert
		}
		s, list := peer.Selfserv(t, o)
		if servers[name] = peer.ECHRelay(t, s.Addr); stale {
			list = old.List
		}
		record(servers[name], string(list))
	}
	nss("nss", peer.SelfservOptions{Public: "public.test"}, false)
	nss("nss stale", peer.SelfservOptions{Public: "public.test"}, true)
	nss("nss retry", peer.SelfservOptions{Public: "public.test", Args: []string{"-I", "P256"}}, false)
	nss("nss disabled", peer.SelfservOptions{}, true)
	nss("nss inner", peer.SelfservOptions{Public: "public.test", Cert: inner}, true)
	dns := peer.DNS(t, append(records, "secret.test. A 127.0.0.1")...)
	proxy := peer.Tinyproxy(t, peer.ProxyOptions{})
	doh := "--doh-insecure --doh-url https://" + dns.TLSAddr + "/dns-query "
	fixed := "--resolve secret.test:*:127.0.0.1 "
	list := base64.StdEncoding.EncodeToString(key.List)
	through := "-x " + proxy.Addr + " --connect-to ::127.0.0.1:" // the proxy cannot resolve the name
	for _, c := range []struct {
		name, server, args string
		code, conns        int
		plaintext          bool // the name was sent in plaintext
		message            string
	}{
		{"accepted", "good", doh + "-v", 0, 1, false, "ECH: server accepted it"},
		{"HTTP/1.1", "good", doh + "-v --http1.1", 0, 1, false, "ECH: server accepted it"},
		{"HelloRetryRequest", "retry", doh + "-v", 0, 1, false, "ECH: server accepted it"},
		{"hard", "good", doh + "--ech hard", 0, 1, false, ""},
		{"switched off", "good", doh + "--ech false", 0, 1, true, ""},
		{"no DNS over HTTPS", "good", fixed, 0, 1, true, ""},
		{"list of the user", "good", fixed + "--ech hard --ech ecl:" + list, 0, 1, false, ""},
		{"old list of the user", "good", fixed + "--ech ecl:" + base64.StdEncoding.EncodeToString(old.List), 0, 2, false, ""},
		{"empty list", "good", fixed + "--ech ecl:AAA=", 0, 1, true, "ECHConfigList is empty"},
		{"empty list, hard", "good", fixed + "--ech hard --ech ecl:AAA=", 5, 0, false, "ECHConfigList is empty"},
		{"key changed", "stale", doh + "-v", 0, 2, false, "rejected the configuration and sent another one"},
		{"key changed, hard", "stale", doh + "--ech hard", 0, 2, false, ""},
		{"key changes always", "changing", doh, 5, 2, false, "ECH"},
		{"disabled by the server", "disabled", doh, 0, 2, true, "secret.test has disabled encrypted client hello"},
		{"disabled by the server, hard", "disabled", doh + "--ech hard", 5, 1, false, "ECH"},
		{"not authenticated", "inner", doh, 5, 1, false, "public.test"},
		{"not authenticated, -k", "inner", doh + "-k", 5, 1, false, "public.test"},
		{"later version", "later", doh, 0, 1, true, "sent in plaintext"},
		{"later version, hard", "later", doh + "--ech hard", 5, 0, false, "no valid configs"},
		{"no record", "no record", doh, 0, 1, true, ""},
		{"no record, hard", "no record", doh + "--ech hard", 5, 0, false, "no configuration"},
		{"TLS 1.2", "good", doh + "--tls-max 1.2", 0, 1, true, ""},
		{"TLS 1.2, hard", "good", doh + "--ech hard --tls-max 1.2", 5, 0, false, "TLS 1.3"},
		{"proxy", "good", doh + through, 0, 1, true, ""},
		{"proxy, hard", "good", doh + "--ech hard " + through, 0, 1, false, ""},
		{"address, hard", "good", doh + "--ech hard https://" + withECH.Addr, 5, 1, false, "host name"},
		{"hard without records", "good", fixed + "--ech hard", 2, 0, false, "requires --doh-url"},
		{"grease", "good", "--ech grease", 12, 0, false, "grease"},
		{"public name", "good", "--ech pn:x", 12, 0, false, "pn:x"},
		{"unknown mode", "good", "--ech x", 2, 0, false, "hard"},
		{"no base64", "good", "--ech ecl:!", 2, 0, false, "base64"},
		{"NSS, accepted", "nss", doh + "-v", 0, 1, false, "ECH: server accepted it"},
		{"NSS, hard", "nss", doh + "--ech hard", 0, 1, false, ""},
		{"NSS, HelloRetryRequest with a cookie", "nss retry", doh, 5, 1, false, "missing extension"}, // crypto/tls omits the cookie
		{"NSS, key changed", "nss stale", doh + "-v", 0, 2, false, "rejected the configuration and sent another one"},
		{"NSS, key changed, hard", "nss stale", doh + "--ech hard", 0, 2, false, ""},
		{"NSS, disabled by the server", "nss disabled", doh, 0, 2, true, "secret.test has disabled encrypted client hello"},
		{"NSS, disabled by the server, hard", "nss disabled", doh + "--ech hard", 5, 1, false, "ECH"},
		{"NSS, not authenticated", "nss inner", doh, 5, 1, false, "public.test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := servers[c.server]
			ca := cert
			if strings.HasSuffix(c.server, "inner") {
				ca = inner
			}
			body := "hello\n"
			if strings.HasPrefix(c.server, "nss") {
				body = "GET / HTTP/1.1\r\nHost: secret.test:"
			}
			args := append(strings.Fields(c.args), "https://secret.test:"+portOf(s.Addr)+"/")
			if strings.Contains(c.args, "-x ") {
				args = append([]string{"--noproxy", ""}, args...)
			}
			code, out, messages := fetchHTTP3(ca, args...)
			conns, plaintext := s.Received("secret.test")
			if code != c.code || code == 0 && !strings.HasPrefix(out, body) || !strings.Contains(messages, c.message) {
				t.Errorf("exit code %d, %q, %s", code, out, messages)
			}
			if conns != c.conns || plaintext != c.plaintext {
				t.Errorf("%d connections, name in plaintext %t: %s", conns, plaintext, messages)
			}
		})
	}
}
