package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
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
	defer local.Close()

	for _, test := range []struct {
		name, args, want string
		code, contacted  int
	}{
		{"no such host", "--unix-socket $S http://socket.example/hello", "hello from socket.example", 0, 0},
		{"header", "--unix-socket $S -I http://socket.example/hello -o /dev/null", "", 0, 0},
		{"redirect within the origin", "--unix-socket $S http://socket.example/same", "hello from socket.example", 0, 0},
		{"redirect to a private host", "--unix-socket $S http://socket.example/away", "", 9, 0},
		{"redirect to another host and back", "--unix-socket $S --resolve other.example:$P:127.0.0.1 " +
			"--connect-to socket.example:80:127.0.0.1:1 http://socket.example/public", "", 4, 1},
		{"no socket", "--unix-socket $S.missing --retry 3 http://socket.example/hello", "", 3, 0},
		{"no folder of the socket", "--unix-socket $S/x --retry 3 http://socket.example/hello", "", 3, 0},
		{"blocked port", "--unix-socket $S http://socket.example:25/hello", "", 9, 0},
	} {
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
