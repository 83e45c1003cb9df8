package metrics

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/test/peer"
)

// oddFamilies returns families with characters that the format reserves.
func oddFamilies() []Family {
	return []Family{
		Single("a_total", Counter, "Line one\nand a \\ and a \".", 1e15),
		{Name: "b_seconds", Type: Gauge, Help: "No samples."},
		{Name: "c_bytes", Type: Gauge, Help: "Odd labels.", Label: "class", Samples: []Sample{
			{`quote " backslash \`, 0.25}, {"line\nbreak", -1}, {"not UTF-8 \xff", 0}, {"}{=,", 2}, {"", 3},
		}},
	}
}

func TestEncode(t *testing.T) {
	const want = `# HELP a_total Line one\nand a \\ and a ".
# TYPE a_total counter
a_total 1000000000000000
# HELP b_seconds No samples.
# TYPE b_seconds gauge
# HELP c_bytes Odd labels.
# TYPE c_bytes gauge
c_bytes{class="quote \" backslash \\"} 0.25
c_bytes{class="line\nbreak"} -1
c_bytes{class="not UTF-8 ` + "\uFFFD" + `"} 0
c_bytes{class="}{=,"} 2
c_bytes{class=""} 3
`
	if got := string(Encode(oddFamilies())); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestPromtool checks the format with the program of Prometheus.
func TestPromtool(t *testing.T) {
	cmd := exec.Command(peer.Need(t, "promtool", "prometheus"), "check", "metrics")
	cmd.Stdin = strings.NewReader(string(Encode(oddFamilies())))
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// startServer serves the metric a_total, and returns the address. The function
// stop waits until the server has ended.
func startServer(t *testing.T) (address string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Serve(ctx, l, func(context.Context) []Family { return oddFamilies()[:1] })
	}()
	stop = func() { cancel(); <-ended }
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// send sends a request, and returns the response with its body.
func send(t *testing.T, address, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, request)
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body) // the server resets the connection if it does not read the complete request
	return resp, string(body)
}

func TestServe(t *testing.T) {
	address, _ := startServer(t)
	const metric = "# HELP a_total"
	for _, row := range []struct {
		name, request string
		status        int
		body          string
	}{
		{"GET", "GET /metrics HTTP/1.1\r\nHost: " + address + "\r\n\r\n", 200, metric},
		{"HEAD", "HEAD /metrics HTTP/1.1\r\nHost: localhost:9400\r\n\r\n", 200, ""},
		{"a query", "GET /metrics?name[]=a HTTP/1.1\r\nHost: [::1]:9400\r\n\r\n", 200, metric},
		{"a host without a port", "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 200, metric},
		{"another path", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "the metrics are at"},
		{"a path with dots", "GET /x/../metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "the metrics are at"},
		{"POST", "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405, "only GET"},
		{"a name of a web page", "GET /metrics HTTP/1.1\r\nHost: rebound.example\r\n\r\n", 421, "loopback"},
		{"an address of a web page", "GET /metrics HTTP/1.1\r\nHost: 192.0.2.1:9400\r\n\r\n", 421, "loopback"},
		{"a long header", "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 2*maxHeader) + "\r\n\r\n", 431, ""},
		{"no http", "\x16\x03\x01\x00\xff\r\n\r\n", 400, "400"},
	} {
		t.Run(row.name, func(t *testing.T) {
			resp, body := send(t, address, row.request)
			if resp.StatusCode != row.status || !strings.Contains(body, row.body) {
				t.Errorf("got %s with %q, want %d with %q", resp.Status, body, row.status, row.body)
			}
			if !resp.Close {
				t.Error("the connection stays open")
			}
		})
	}
}

// TestServeManyConnections checks that clients that send or read nothing are
// limited, and that the server answers other clients meanwhile.
func TestServeManyConnections(t *testing.T) {
	address, stop := startServer(t)
	for i := range maxConns + 10 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if i%2 == 0 {
			io.WriteString(conn, "GET /metrics HTTP/1.1\r\n") // the server may have closed the connection
		}
	}
	if resp, _ := send(t, address, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"); resp.StatusCode != 200 {
		t.Errorf("got %s", resp.Status)
	}
	open, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	stop()
	if _, err := open.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open after the end of Serve")
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the server accepts connections after the end of Serve")
	}
}
