package main

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/internal/test/peer"
)

// An echSite has three servers: "good" with the keys of its HTTPS record, "stale"
// with other keys than those of its record, and "off" without Encrypted Client
// Hello and without a record.
type echSite struct {
	cert    *peer.Cert
	servers map[string]*peer.ECHServer
	doh     string // the URL of the DNS server
}

func newECHSite(t *testing.T) *echSite {
	t.Helper()
	s := &echSite{servers: map[string]*peer.ECHServer{}}
	s.cert = peer.NewCert(t, peer.CertOptions{Hosts: []string{"secret.test", "other.test", "public.test", "127.0.0.1"}})
	key, old := peer.NewECHKey(t, "public.test", 1), peer.NewECHKey(t, "public.test", 2)
	records := []string{"secret.test. A 127.0.0.1", "other.test. A 127.0.0.1",
		"secret.test. HTTPS 1 . ech=" + base64.StdEncoding.EncodeToString(key.List)}
	for name, list := range map[string][]byte{"good": key.List, "stale": old.List, "off": nil} {
		keys := []tls.EncryptedClientHelloKey{key.EncryptedClientHelloKey}
		if list == nil {
			keys = nil
		}
		server := peer.ECH(t, s.cert, func() []tls.EncryptedClientHelloKey { return keys })
		s.servers[name] = server
		for _, host := range []string{"secret.test", "other.test"} {
			if list != nil {
				records = append(records, fmt.Sprintf("_%s._https.%s. HTTPS 1 . ech=%s", portOf(server.Addr), host, base64.StdEncoding.EncodeToString(list)))
			}
		}
	}
	s.doh = "https://" + peer.DNS(t, records...).TLSAddr + "/dns-query"
	return s
}

// A sharedBuffer is a buffer for writers that run at the same time.
type sharedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *sharedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *sharedBuffer) WriteString(s string) (int, error) { return b.Write([]byte(s)) }

// run runs a command in a new folder. The words GOOD, STALE and OFF are the ports
// of the servers.
func (s *echSite) run(t *testing.T, dir, line string) (code int, out, messages string) {
	t.Helper()
	for name, server := range s.servers {
		line = strings.ReplaceAll(line, strings.ToUpper(name), portOf(server.Addr))
	}
	args := strings.Fields(line)
	flags := []string{"-q", "--noproxy", "", "--cacert", s.cert.File, "--doh-url", s.doh, "--doh-insecure", "--retry", "0"}
	switch args[0] {
	case "mirror", "plan", "info":
		args = append(args[:1:1], append(flags, args[1:]...)...)
	default:
		args = append(flags, args...)
	}
	t.Chdir(dir)
	var stdout, stderr sharedBuffer // jobs of -Z write their errors at the same time
	code = app.Run(args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestECHCrossed checks Encrypted Client Hello together with other flags and
// commands, and with redirects.
func TestECHCrossed(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	s := newECHSite(t)
	http, socks := peer.Tinyproxy(t, peer.ProxyOptions{}).Addr, peer.Microsocks(t, peer.ProxyOptions{}).Addr
	hello := strings.Repeat("hello\n", 4)
	const good, stale, off = "https://secret.test:GOOD/", "https://secret.test:STALE/", "https://secret.test:OFF/"
	to := func(url string) string { return good + "?to=" + url }
	four := func(url string) string { return strings.Repeat(" "+url, 4) }
	for _, c := range []struct {
		name, line string
		code       int
		out        string // "" if the output is not compared
		message    string
		conns      string // connections to the servers good, stale and off; "+" means one or more
		plaintext  string // servers that received a name in plaintext
	}{
		{"parallel", "-Z" + four(good), 0, hello, "", "+ 0 0", ""},
		{"parallel, HTTP/1.1", "-Z --http1.1" + four(good), 0, hello, "", "+ 0 0", ""},
		{"parallel, HTTP/1.1, key changed", "-Z --http1.1 --ech hard" + four(stale), 0, hello, "", "0 + 0", ""},
		{"parallel, hard, no record", "-Z --ech hard" + four(off), 5, "", "no configuration", "0 0 0", ""},
		{"one after the other, key changed", "-v" + four(stale), 0, hello, "sent another one", "0 2 0", ""},
		{"range", "-r 1-3 " + good, 0, "ell", "", "1 0 0", ""},
		{"range at the end, key changed", "-r -3 " + stale, 0, "lo\n", "", "0 2 0", ""},
		{"segments", "--segments 2 -o file " + good, 0, "", "", "+ 0 0", ""},
		{"head", "-I " + good, 0, "", "", "1 0 0", ""},
		{"info", "info " + good, 0, "", "", "1 0 0", ""},
		{"WARC file, key changed", "--warc-file x.warc.gz " + stale, 0, "hello\n", "", "0 2 0", ""},
		{"redirect to another host", "-L " + to("https://other.test:STALE/"), 0, "hello\n", "", "1 2 0", ""},
		{"redirect to a host without a record", "-L " + to("https://other.test:OFF/"), 0, "hello\n", "", "1 0 1", "off"},
		{"redirect to a host without a record, hard", "-L --ech hard " + to("https://other.test:OFF/"), 5, "", "no configuration", "1 0 0", ""},
		{"redirect to an address, hard", "-L --ech hard " + to("https://127.0.0.1:OFF/"), 5, "", "host name", "1 0 0", ""},
		{"--connect-to", "--connect-to ::127.0.0.1:GOOD https://secret.test/", 0, "hello\n", "", "1 0 0", ""},
		{"--connect-to, another server", "--connect-to ::127.0.0.1:OFF https://secret.test/", 0, "hello\n", "disabled encrypted client hello", "0 0 2", "off"},
		{"--resolve", "--resolve secret.test:GOOD:127.0.0.1 " + good, 0, "hello\n", "", "1 0 0", ""},
		{"--resolve, hard, no record", "--ech hard --resolve secret.test:OFF:127.0.0.1 " + off, 5, "", "no configuration", "0 0 0", ""},
		{"-4", "-4 --ech hard " + good, 0, "hello\n", "", "1 0 0", ""},
		{"http proxy, key changed, hard", "-x http://" + http + " --ech hard --connect-to ::127.0.0.1:STALE " + stale, 0, "hello\n", "", "0 2 0", ""},
		{"http proxy, no record, hard", "-x http://" + http + " --ech hard --connect-to ::127.0.0.1:OFF " + off, 5, "", "no configuration", "0 0 0", ""},
		{"SOCKS", "-x socks5://" + socks + " --connect-to ::127.0.0.1:GOOD " + good, 0, "hello\n", "", "1 0 0", "good"},
		{"SOCKS, hard", "-x socks5h://" + socks + " --ech hard --connect-to ::127.0.0.1:GOOD " + good, 0, "hello\n", "", "1 0 0", ""},
		{"HTTP/3 without a server", "--http3 --ech hard " + good, 0, "hello\n", "", "1 0 0", ""},
		{"HTTP/3 only without a server", "--http3-only " + good, 4, "", "refused", "0 0 0", ""},
		{"-k", "-k " + good, 0, "hello\n", "", "1 0 0", ""},
		{"plan", "plan --ech hard " + good, 0, "", "", "0 0 0", ""},
		{"mirror, dry run", "mirror --dry-run --ech hard --output-dir dir " + good, 0, "", "", "0 0 0", ""},
		{"mirror", "mirror --ignore-robots --output-dir dir " + good, 0, "", "", "+ 0 0", ""},
		{"mirror, robots.txt, key changed, hard", "mirror --ech hard --output-dir dir " + stale, 0, "", "", "0 + 0", ""},
		{"mirror, hard, no record", "mirror --ech hard --ignore-robots --output-dir dir " + off, 8, "", "no configuration", "0 0 0", ""},
		{"no messages", "-s --connect-to ::127.0.0.1:OFF https://secret.test/", 0, "hello\n", "", "0 0 2", "off"},
		{"JSON, note", "--error-json --connect-to ::127.0.0.1:OFF https://secret.test/", 0, "hello\n", `"message":"secret.test has disabled`, "0 0 2", "off"},
		{"JSON, error", "--error-json --ech hard " + off, 5, "", `"kind":"tls"`, "0 0 0", ""},
		{"HSTS", "--hsts hsts http://secret.test:GOOD/", 0, "hello\n", "", "1 0 0", ""},
		{"gemini, hard", "--ech hard gemini://secret.test:OFF/", 5, "", "only https", "0 0 0", ""},
		{"ftps, hard", "--ech hard ftps://secret.test:OFF/", 5, "", "only https", "0 0 0", ""},
		{"imaps, hard", "--ech hard imaps://secret.test:OFF/", 5, "", "only https", "0 0 0", ""},
		{"ldaps, hard", "--ech hard ldaps://secret.test:OFF/", 5, "", "only https", "0 0 0", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "hsts"), []byte("secret.test \"20991231 00:00:00\"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, messages := s.run(t, dir, c.line)
			if code != c.code || c.out != "" && out != c.out || !strings.Contains(messages, c.message) {
				t.Errorf("exit code %d, want %d: %q, %s", code, c.code, out, messages)
			}
			if strings.HasPrefix(c.line, "-s ") && messages != "" {
				t.Errorf("messages with -s: %s", messages)
			}
			var conns, plaintext []string
			for i, name := range []string{"good", "stale", "off"} {
				n, found := s.servers[name].Received("secret.test", "other.test")
				count := fmt.Sprint(n)
				if n > 0 && strings.Fields(c.conns)[i] == "+" {
					count = "+"
				}
				if conns = append(conns, count); found {
					plaintext = append(plaintext, name)
				}
			}
			if got := strings.Join(conns, " "); got != c.conns {
				t.Errorf("connections %s, want %s", got, c.conns)
			}
			if got := strings.Join(plaintext, " "); got != c.plaintext {
				t.Errorf("names in plaintext at %q, want %q: %s", got, c.plaintext, messages)
			}
		})
	}
}
