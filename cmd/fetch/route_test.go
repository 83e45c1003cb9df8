package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// TestUnixSocket checks that --unix-socket is used for the URL and for
// redirects within its origin, but not for redirects to another host or back.
func TestUnixSocket(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	contacted := 0
	network := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		contacted++
		http.Redirect(w, req, "http://socket.example/private", http.StatusFound)
	}))
	defer network.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/hello", func(w http.ResponseWriter, req *http.Request) { fmt.Fprint(w, "hello from ", req.Host) })
	mux.Handle("/same", http.RedirectHandler("/hello", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler(network.URL, http.StatusFound))
	port := network.URL[strings.LastIndexByte(network.URL, ':')+1:]
	mux.Handle("/public", http.RedirectHandler("http://other.example:"+port, http.StatusFound))
	mux.HandleFunc("/private", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "private") })
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skip(err)
	}
	local := &http.Server{Handler: mux}
	go local.Serve(l)
	if runtime.GOOS == "linux" {
		abstract, err := net.Listen("unix", "@"+path)
		if err != nil {
			t.Fatal(err)
		}
		go local.Serve(abstract)
	}
	defer local.Close()

	for _, test := range []struct {
		name, args, want string
		code, contacted  int
	}{
		{"no such host", "--unix-socket $S http://socket.example/hello", "hello from socket.example", 0, 0},
		{"abstract name", "--abstract-unix-socket $S http://socket.example/hello", "hello from socket.example", 0, 0},
		{"no abstract name", "--retry 0 --abstract-unix-socket $S.missing http://socket.example/hello", "", 4, 0},
		{"header", "--unix-socket $S -I http://socket.example/hello -o /dev/null", "", 0, 0},
		{"redirect within the origin", "--unix-socket $S http://socket.example/same", "hello from socket.example", 0, 0},
		{"redirect to a private host", "--unix-socket $S http://socket.example/away", "", 9, 0},
		{"redirect to another host and back", "--unix-socket $S --resolve other.example:$P:127.0.0.1 " +
			"--connect-to socket.example:80:127.0.0.1:1 http://socket.example/public", "", 4, 1},
		{"no socket", "--unix-socket $S.missing --retry 3 http://socket.example/hello", "", 3, 0},
		{"no folder of the socket", "--unix-socket $S/x --retry 3 http://socket.example/hello", "", 3, 0},
		{"blocked port", "--unix-socket $S http://socket.example:25/hello", "", 9, 0},
	} {
		if runtime.GOOS != "linux" && strings.Contains(test.args, "abstract") {
			continue
		}
		contacted = 0
		args := strings.NewReplacer("$S", path, "$P", port).Replace(test.args)
		out := runFetch(t, test.code, strings.Fields(args)...)
		if out != test.want || contacted != test.contacted {
			t.Errorf("%s: %q, %d requests to the network", test.name, out, contacted)
		}
	}
}

// TestInterface checks that --interface selects the local address.
func TestInterface(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("requires a server, and several addresses of the loopback interface")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host, _, _ := net.SplitHostPort(req.RemoteAddr)
		fmt.Fprint(w, host)
	}))
	defer server.Close()
	for _, test := range []struct {
		value, want string
		code        int
	}{
		{"127.0.0.3", "127.0.0.3", 0},
		{"host!127.0.0.4", "127.0.0.4", 0},
		{"lo", "127.0.0.1", 0},
		{"if!lo", "127.0.0.1", 0},
		{"::1", "", 4},
		{"nosuch0", "", 2},
		{"if!127.0.0.1", "", 2},
		{"192.0.2.1", "", 4},
	} {
		if out := runFetch(t, test.code, "--interface", test.value, server.URL); out != test.want {
			t.Errorf("--interface %s: %q", test.value, out)
		}
	}
}

// TestLocalPort checks that --local-port selects the local port of connections
// to servers and proxies.
func TestLocalPort(t *testing.T) {
	if testing.Short() {
		t.Skip("requires a server")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		_, port, _ := net.SplitHostPort(req.RemoteAddr)
		fmt.Fprint(w, port)
	}))
	defer server.Close()
	taken, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for _, test := range []struct {
		name string
		args []string
		code int
	}{
		{"range", []string{"--local-port", fmt.Sprintf("%d-%d", port-300, port)}, 0},
		{"range and proxy", []string{"--local-port", fmt.Sprintf("%d - %d", port-300, port), "-x", server.URL}, 0},
		{"in use", []string{"--retry", "0", "--local-port", fmt.Sprint(port)}, 4},
		{"no range", []string{"--local-port", "5000-4000"}, 2},
		{"no number", []string{"--local-port", "x"}, 2},
		{"no port", []string{"--local-port", "0"}, 2},
		{"negative delay", []string{"--happy-eyeballs-timeout-ms", "-1"}, 2},
		{"other settings", []string{"--happy-eyeballs-timeout-ms", "100", "--keepalive-time", "40", "--keepalive-cnt", "3"}, 0},
		{"no keep-alive messages", []string{"--no-keepalive"}, 0},
	} {
		out := runFetch(t, test.code, append(test.args, server.URL)...)
		n, _ := strconv.Atoi(out)
		if strings.HasPrefix(test.name, "range") && (n < port-300 || n >= port) || test.code != 0 && out != "" {
			t.Errorf("%s: local port %q, not below %d", test.name, out, port)
		}
	}
}

// TestPreproxy checks that --preproxy is used before the HTTP proxy, with the
// schemes that this proxy retrieves itself and those that use a tunnel, and
// alone.
func TestPreproxy(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("hello.txt", []byte("hello\n"))
	files := peer.Vsftpd(t, peer.FTPOptions{})
	files.Put("hello.txt", []byte("hello\n"))
	socks, proxy := peer.Microsocks(t, peer.ProxyOptions{}), peer.Tinyproxy(t, peer.ProxyOptions{})
	url, chain := "http://"+web.Addr+"/hello.txt", []string{"-v", "--preproxy", "socks5h://" + socks.Addr}
	for _, test := range []struct {
		name          string
		args          []string
		code          int
		first, second bool // the proxies that are used
	}{
		{"both", []string{"-x", proxy.Addr, url}, 0, true, true},
		{"both, with a tunnel", []string{"-p", "-x", proxy.Addr, url}, 0, true, true},
		{"ftp", []string{"-p", "-x", proxy.Addr, "ftp://" + files.Addr + "/hello.txt"}, 0, true, true},
		{"no other proxy", []string{url}, 0, true, false},
		{"no other proxy, ftp", []string{"ftp://" + files.Addr + "/hello.txt"}, 0, true, false},
		{"excluded host", []string{"--noproxy", "127.0.0.1", "-x", proxy.Addr, url}, 0, false, false},
		{"switched off", []string{"--preproxy", "", "-x", proxy.Addr, url}, 0, false, true},
		{"denied port", []string{"-x", proxy.Addr, "http://127.0.0.1:25/"}, 9, false, false},
		{"another SOCKS proxy", []string{"-x", "socks5://" + socks.Addr, url}, 2, false, false},
		{"no SOCKS proxy", []string{"--preproxy", "http://" + socks.Addr, url}, 12, false, false},
		{"no host", []string{"--preproxy", "socks5://", url}, 2, false, false},
		{"HTTP/3", []string{"--http3-only", "https://" + web.Addr}, 12, false, false},
	} {
		out, messages := runFetchStderr(t, test.code, append(chain, test.args...)...)
		usesFirst := strings.Contains(messages, "Connected to 127.0.0.1 (127.0.0.1) port "+portOf(socks.Addr))
		usesSecond := strings.Contains(messages, proxy.Addr) || strings.Contains(messages, "port "+portOf(proxy.Addr))
		if test.code == 0 && out != "hello\n" || usesFirst != test.first || usesSecond != test.second {
			t.Errorf("%s: got %q, proxies used %t and %t: %s", test.name, out, usesFirst, usesSecond, messages)
		}
	}
}
