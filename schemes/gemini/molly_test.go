package gemini_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/fetchtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/gemini"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// big is binary data that exceeds all buffers.
var big = bytes.Repeat([]byte("\x00\xff20 text\r\n"), 40_000)

// inTemp returns Options whose file of keys is in a temporary folder.
func inTemp(t *testing.T) gemini.Options {
	return gemini.Options{KnownHosts: filepath.Join(t.TempDir(), "state", "hosts")}
}

func TestMollyBrown(t *testing.T) {
	s := peer.MollyBrown(t, peer.MollyBrownOptions{Config: []string{
		`[TempRedirects]`, `"^/old$" = "/new.txt"`, `"^/loop$" = "/loop"`, `"^/ping$" = "/pong"`, `"^/pong$" = "/ping"`,
	}})
	s.Put("index.gmi", []byte("# Title\n=> sub/ A folder\n=>new.txt\ttext\n```\n=> not a link\n```\n=> gopher://gopher.example/ elsewhere\n=> ?? odd\n"))
	s.Put("new.txt", []byte("eins\r\nzwei\n"))
	s.Put("sub/data.bin", big)
	s.Put("sub/caf\u00e9 1.txt", []byte("x"))
	o := inTemp(t)
	root := "gemini://" + s.Addr
	fetchtest.Run(t, fetchtest.Suite{
		Schemes:  func() []fetch.Scheme { return gemini.Schemes(o) },
		Document: root + "/sub/data.bin",
		Body:     big,
		Missing:  root + "/nosuch",
		Menu:     root + "/",
		Names:    []string{"A folder", "text"},
		Rejected: []string{root + "/" + strings.Repeat("a", 1100), "gemini:///x"},
		NoRanges: true,
	})
	search := s.Put("cgi-bin/find", []byte("#!/bin/sh\n[ -z \"$QUERY_STRING\" ] && printf '10 Words?\\r\\n' && exit\n"+
		"printf '20 text/gemini\\r\\n=> /x?%s found\\n' \"$QUERY_STRING\"\n"))
	if err := os.Chmod(search, 0o755); err != nil {
		t.Fatal(err)
	}
	c := schemetest.NewClient(t, gemini.Schemes(o))
	for _, test := range []struct{ name, path, want string }{
		{"gemtext", "/", `info "# Title"
menu "A folder" /sub/ text/gemini
document "text" /new.txt text/plain
info "` + "```" + `"
info "=> not a link"
info "` + "```" + `"
document "elsewhere" gopher://gopher.example/
menu "odd" /?? text/gemini`},
		{"text", "/new.txt", `document text/plain; charset=utf-8 Gemini: "eins\r\nzwei\n"`},
		{"redirect", "/old", `document text/plain; charset=utf-8 Gemini: "eins\r\nzwei\n"`},
		{"redirect to itself", "/loop", "loop: redirect /loop: more than 10 redirects"},
		{"redirect loop", "/ping", "loop: redirect /pong: redirect loop at /ping"},
		{"input", "/cgi-bin/find", "need-query: get /cgi-bin/find: server asks for input: Words?"},
		{"search", "/cgi-bin/find?a%20b", `document "found" /x?a%20b`},
		{"missing", "/nosuch", "not-found: get /nosuch: server replied: 51 Not found!"},
		{"dots that the server rejects", "/a..b", "server-perm: get /a..b: server replied: 50 Your directory traversal technique has been defeated!"},
	} {
		resp, err := c.Get(t.Context(), root+test.path)
		if got := schemetest.Describe(resp, err, root); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
	for _, e := range mustList(t, c, root+"/sub/") {
		if strings.HasPrefix(e.Name, "caf") && !strings.HasSuffix(e.URL.String(), "/caf%C3%A9%201.txt") {
			t.Errorf("got %v", e)
		}
	}
}

func mustList(t *testing.T, c *fetch.Client, url string) []fetch.Entry {
	t.Helper()
	all, err := schemetest.List(t, c, url)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestKeys tests that the key of a server is stored, and that another key is
// rejected until the line is removed.
func TestKeys(t *testing.T) {
	first := peer.NewCert(t, peer.CertOptions{})
	second := peer.NewCert(t, peer.CertOptions{Hosts: []string{"other.example"}, Expired: true})
	var cert atomic.Pointer[peer.Cert]
	cert.Store(first)
	addr := serve(t, func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{cert.Load().TLS}} })
	o := inTemp(t)
	get := func(change ...func(*fetch.Options)) error {
		c := schemetest.NewClient(t, gemini.Schemes(o), change...)
		_, body, err := schemetest.Read(t, c, "gemini://"+addr+"/")
		if err == nil && body != "hello\n" {
			t.Errorf("got %q", body)
		}
		return err
	}
	if err := get(); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(o.KnownHosts)
	if err != nil || !strings.HasPrefix(string(stored), addr+" sha256//") {
		t.Fatalf("got %q, %v", stored, err)
	}
	if info, _ := os.Stat(o.KnownHosts); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	cert.Store(second)
	if err := get(); !errors.Is(err, fetch.TLS) || !strings.Contains(err.Error(), "has changed") {
		t.Errorf("another key: got %v", err)
	}
	if again, _ := os.ReadFile(o.KnownHosts); !bytes.Equal(again, stored) {
		t.Errorf("another key: the file has %q", again)
	}
	insecure := func(o *fetch.Options) { o.TLS = &tls.Config{InsecureSkipVerify: true} }
	if err := get(insecure); err != nil {
		t.Errorf("another key, without verification: %v", err)
	}
	authority := func(o *fetch.Options) { o.TLS = &tls.Config{RootCAs: first.Pool} }
	if err := get(authority); !errors.Is(err, fetch.TLS) {
		t.Errorf("another key, with CA certificates: got %v", err)
	}
	if err := os.Remove(o.KnownHosts); err != nil {
		t.Fatal(err)
	}
	if err := get(); err != nil {
		t.Errorf("another key after the file was removed: %v", err)
	}
	o.KnownHosts = t.TempDir() // a folder cannot be read
	if err := get(); !errors.Is(err, fetch.Local) {
		t.Errorf("file that cannot be read: got %v", err)
	}
}

// TestFinalDot tests that a host with a final dot is the same server for the
// stored key, also if an earlier version stored the dot.
func TestFinalDot(t *testing.T) {
	for _, c := range [][2]string{{"localhost", "localhost."}, {"localhost.", "localhost"}, {"stored", "localhost"}} {
		first, second := peer.NewCert(t, peer.CertOptions{}), peer.NewCert(t, peer.CertOptions{})
		var cert atomic.Pointer[peer.Cert]
		cert.Store(first)
		addr := serve(t, func() *tls.Config { return &tls.Config{Certificates: []tls.Certificate{cert.Load().TLS}} })
		_, port, _ := strings.Cut(addr, ":")
		o := inTemp(t)
		client := schemetest.NewClient(t, gemini.Schemes(o))
		host := c[0]
		if host == "stored" {
			host = "localhost"
		}
		if _, _, err := schemetest.Read(t, client, "gemini://"+host+":"+port+"/"); err != nil {
			t.Fatal(err)
		}
		if c[0] == "stored" {
			stored, err := os.ReadFile(o.KnownHosts)
			dotted := strings.Replace(string(stored), "localhost:", "localhost.:", 1)
			if err := errors.Join(err, os.WriteFile(o.KnownHosts, []byte(dotted), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		cert.Store(second)
		_, _, err := schemetest.Read(t, client, "gemini://"+c[1]+":"+port+"/")
		if !errors.Is(err, fetch.TLS) || !strings.Contains(err.Error(), "has changed") {
			t.Errorf("%s, then %s with another key: got %v", c[0], c[1], err)
		}
	}
}

// TestClientCertificate tests that a client certificate is sent to the server
// of the URL, and not to the target of a redirect or link.
func TestClientCertificate(t *testing.T) {
	mine := peer.NewCert(t, peer.CertOptions{})
	config := func() *tls.Config {
		return &tls.Config{Certificates: []tls.Certificate{mine.TLS}, ClientAuth: tls.RequestClientCert}
	}
	other := serve(t, config)
	here := serve(t, config, "gemini://"+other+"/who")
	c := schemetest.NewClient(t, gemini.Schemes(inTemp(t)), func(o *fetch.Options) {
		o.TLS = &tls.Config{Certificates: []tls.Certificate{mine.TLS}}
	})
	for _, test := range []struct{ url, from, want string }{
		{here + "/who", "", "known\n"},
		{other + "/who", "", "known\n"},
		{here + "/redirect", "", "unknown\n"},
		{here + "/self", "", "known\n"},
		{other + "/who", here, "unknown\n"},
		{other + "/who", other, "known\n"},
	} {
		req := schemetest.NewRequest(t, "gemini://"+test.url)
		if test.from != "" {
			req.From = &fetch.Source{URL: schemetest.NewRequest(t, "gemini://"+test.from+"/").URL}
		}
		if _, got, err := schemetest.ReadRequest(t, c, req); got != test.want || err != nil {
			t.Errorf("%s from %q: got %q, %v", test.url, test.from, got, err)
		}
	}
	_, _, err := schemetest.Read(t, schemetest.NewClient(t, gemini.Schemes(inTemp(t))), "gemini://"+here+"/need")
	if !errors.Is(err, fetch.Auth) {
		t.Errorf("without a certificate: got %v", err)
	}
}

// serve starts a Gemini server on loopback. The path /redirect leads to the URL
// of the third parameter.
func serve(t *testing.T, config func() *tls.Config, target ...string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go answer(tls.Server(conn, config()), append(target, "")[0])
		}
	}()
	return ln.Addr().String()
}

func answer(conn *tls.Conn, target string) {
	defer conn.Close()
	line := make([]byte, 1024)
	n, err := conn.Read(line)
	if err != nil {
		return
	}
	_, path, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(string(line[:n]), "gemini://"), "\r\n"), "/")
	known := len(conn.ConnectionState().PeerCertificates) > 0
	reply := "20 text/plain\r\nhello\n"
	switch {
	case path == "who" && known:
		reply = "20 text/plain\r\nknown\n"
	case path == "who":
		reply = "20 text/plain\r\nunknown\n"
	case path == "redirect":
		reply = "30 " + target + "\r\n"
	case path == "self":
		reply = "31 who\r\n"
	case path == "need" && !known:
		reply = "60 who are you?\r\n"
	}
	conn.Write([]byte(reply))
}
