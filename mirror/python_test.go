package mirror_test

import (
	"bufio"
	"crypto/tls"
	"os/exec"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/schemes"
)

// serialServer is a program that serves 21 files with the simple server of
// Python, over persistent connections and one connection at a time. Its arguments
// are the PEM files of the certificate and of its key, or none. It prints its
// port.
const serialServer = `
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def do_GET(self):
        body = b"".join(b"<a href=/%d.txt>" % n for n in range(20)) if self.path == "/" else self.path.encode()
        self.send_response(404 if self.path == "/robots.txt" else 200)
        self.send_header("Content-Type", "text/html" if self.path == "/" else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
if len(sys.argv) > 1:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
`

// TestPythonServer mirrors the simple server of Python. No connection may stay
// open until its idle time is over, so that each URL is requested only once.
func TestPythonServer(t *testing.T) {
	t.Parallel()
	python := peer.Need(t, "python3", "python3")
	cert := peer.NewCert(t, peer.CertOptions{})
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			args := []string{"-c", serialServer}
			if scheme == "https" {
				args = append(args, cert.File, cert.KeyFile)
			}
			program := exec.CommandContext(t.Context(), python, args...)
			out, err := program.StdoutPipe()
			if err == nil {
				err = program.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { program.Process.Kill(); program.Wait() }()
			port, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			o := options(t, scheme+"://localhost:"+strings.TrimSpace(port)+"/")
			o.PerHost = 4
			o.Client = fetch.New(fetch.Options{Policy: fetch.Typed(), TLS: &tls.Config{RootCAs: cert.Pool}}, schemes.All(schemes.Options{})...)
			defer o.Client.Close()
			if sum := run(t, o); sum.New != 21 || sum.Failed > 0 {
				t.Errorf("%+v", sum)
			}
			retried := 0
			for _, e := range events(t, o.Dir) {
				if e.State == "pending" {
					retried++
				}
			}
			if retried > 0 {
				t.Errorf("%d requests failed at first\n%s", retried, outcomes(t, o.Dir))
			}
		})
	}
}
