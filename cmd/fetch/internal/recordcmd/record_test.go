package recordcmd_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/commandtest"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/warc"
)

func TestMain(m *testing.M) { commandtest.Main(m) }

// A recorder is a running fetch record in a directory of its own.
type recorder struct {
	t       *testing.T
	process *exec.Cmd
	dir     string
	address string
	token   string

	messages bytes.Buffer // standard error, valid after ended is closed
	ended    chan struct{}
}

// newDir returns a directory for recorders.
func newDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	return dir
}

// start runs fetch record in dir.
func start(t *testing.T, dir string, args ...string) *recorder {
	t.Helper()
	return startCommand(t, dir, commandtest.Command("fetch"), args...)
}

// startCommand is like start, for the command c without arguments.
func startCommand(t *testing.T, dir string, c *exec.Cmd, args ...string) *recorder {
	t.Helper()
	c.Args = slices.Concat(c.Args, []string{"record", "--listen", "127.0.0.1:0", "--ca-out", "ca.pem", "--token-file", "token"}, args)
	c.Dir = dir
	r := &recorder{t: t, dir: dir, process: c, ended: make(chan struct{})}
	messages, err := c.StderrPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	announced := regexp.MustCompile(`the proxy is at http://([^, ]+),`)
	lines := bufio.NewReader(messages)
	silent := time.AfterFunc(commandtest.WaitTimeout, func() { c.Process.Kill() })
	defer silent.Stop()
	for r.address == "" {
		line, err := lines.ReadString('\n')
		r.messages.WriteString(line)
		if m := announced.FindStringSubmatch(line); m != nil {
			r.address = m[1]
		} else if err != nil {
			t.Fatalf("the proxy did not start: %s", &r.messages)
		}
	}
	go func() {
		io.Copy(&r.messages, lines)
		c.Wait()
		close(r.ended)
	}()
	r.token = strings.TrimSpace(commandtest.Content(t, filepath.Join(dir, "token")))
	return r
}

// stop ends the recorder with a signal and returns its exit code.
func (r *recorder) stop(signal os.Signal) int {
	r.t.Helper()
	r.process.Process.Signal(signal)
	return r.wait()
}

// wait waits until the recorder has ended and returns its exit code.
func (r *recorder) wait() int {
	r.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(commandtest.WaitTimeout):
		r.process.Process.Kill()
		r.t.Error("the recorder did not end")
		<-r.ended
	}
	return r.process.ProcessState.ExitCode()
}

// client returns a client that uses the proxy. With a token, it is the user.
func (r *recorder) client(token string) *http.Client {
	proxy := &url.URL{Scheme: "http", Host: r.address}
	if token != "" {
		proxy.User = url.UserPassword("fetch", token)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(commandtest.Content(r.t, filepath.Join(r.dir, "ca.pem"))))
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	r.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// get returns the status code and the body of a page.
func get(t *testing.T, c *http.Client, url string) (int, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Errorf("%s: %v", url, err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Errorf("%s: %v", url, err)
	}
	return resp.StatusCode, string(text)
}

// captures returns the index lines of WARC files, by method and URL.
func captures(t *testing.T, files ...string) map[string]string {
	t.Helper()
	for f, err := range warc.Verify(files...) {
		t.Errorf("verify: %v %v", f, err)
	}
	found := map[string]string{}
	for _, line := range strings.Split(commandtest.Run(t, 0, append([]string{"index"}, files...)...), "\n") {
		if m := regexp.MustCompile(`"url":"([^"]*)","mime":"([^"]*)"`).FindStringSubmatch(line); m != nil {
			method := "GET"
			if n := regexp.MustCompile(`"method":"([^"]*)"`).FindStringSubmatch(line); n != nil {
				method = n[1]
			}
			found[method+" "+m[1]] = m[2]
		}
	}
	return found
}

// web answers with the path, and echoes the bodies of POST requests.
func web(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s %s", strings.TrimSuffix(r.URL.Path, "2"), body)
}

// TestClients records curl and wget.
func TestClients(t *testing.T) {
	dir := newDir(t)
	plain, secure := httptest.NewServer(http.HandlerFunc(web)), httptest.NewTLSServer(http.HandlerFunc(web))
	defer plain.Close()
	defer secure.Close()
	roots := filepath.Join(dir, "upstream.pem")
	commandtest.Put(t, roots, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	r := start(t, dir, "--warc", "all.warc.gz", "--cacert", roots)
	proxy := "http://fetch:" + r.token + "@" + r.address
	curl, wget := peer.Need(t, "curl", "curl"), peer.Need(t, "wget", "wget")
	ca := filepath.Join(dir, "ca.pem")
	for _, c := range []struct {
		about string
		args  []string
		want  string
	}{
		{"curl, http", []string{curl, "-sS", "-x", proxy, plain.URL + "/a"}, "/a "},
		{"curl, https over HTTP/2", []string{curl, "-sS", "--http2", "--cacert", ca, "-x", proxy, secure.URL + "/b", "-w", "%{http_version}"}, "/b 2"},
		{"curl, https over HTTP/1.1", []string{curl, "-sS", "--http1.1", "--cacert", ca, "-x", proxy, secure.URL + "/c", "-w", "%{http_version}"}, "/c 1.1"},
		{"curl, http in a tunnel", []string{curl, "-sS", "-p", "-x", proxy, plain.URL + "/d"}, "/d "},
		{"curl, a form", []string{curl, "-sS", "--cacert", ca, "-x", proxy, "-d", "q=1", secure.URL + "/form"}, "/form q=1"},
		{"curl, repeated content", []string{curl, "-sS", "-x", proxy, plain.URL + "/a2"}, "/a "},
		{"curl, a WebSocket", []string{curl, "-sS", "-x", proxy, "-H", "Connection: Upgrade", "-H", "Upgrade: websocket", plain.URL + "/ws", "-o", os.DevNull, "-w", "%{http_code}"}, "501"},
		{"curl, without the token", []string{curl, "-sS", "-x", "http://" + r.address, plain.URL + "/no", "-o", os.DevNull, "-w", "%{http_code}"}, "403"},
		{"wget, http", []string{wget, "-q", "-O", "-", "-e", "http_proxy=" + proxy, plain.URL + "/e"}, "/e "},
		{"wget, https", []string{wget, "-q", "-O", "-", "--ca-certificate", ca, "-e", "https_proxy=" + proxy, secure.URL + "/f"}, "/f "},
	} {
		cmd := exec.Command(c.args[0], c.args[1:]...)
		cmd.Env = append(os.Environ(), "no_proxy=", "NO_PROXY=")
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %q %v, want %q", c.about, out, err, c.want)
		}
	}
	if code := r.stop(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	got := captures(t, filepath.Join(dir, "all.warc.gz"))
	for want, media := range map[string]string{
		"GET " + plain.URL + "/a": "text/plain", "GET " + secure.URL + "/b": "text/plain", "GET " + secure.URL + "/c": "text/plain",
		"GET " + plain.URL + "/d": "text/plain", "POST " + secure.URL + "/form": "text/plain", "GET " + plain.URL + "/a2": "warc/revisit",
		"GET " + plain.URL + "/e": "text/plain", "GET " + secure.URL + "/f": "text/plain",
	} {
		if got[want] != media {
			t.Errorf("%s: %q, want %q", want, got[want], media)
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("unexpected captures: %v", got)
	}
}

// TestPolicy checks which requests the proxy refuses, and that the page names
// the rule.
func TestPolicy(t *testing.T) {
	dir := newDir(t)
	server := httptest.NewServer(http.HandlerFunc(web))
	defer server.Close()
	r := start(t, dir, "--warc", "all.warc.zst")
	for _, c := range []struct {
		about, token, url string
		code              int
		want              string
	}{
		{"a link to this machine", "", server.URL + "/", 403, "a public page led to a loopback address"},
		{"a link to a private network", "", "http://10.0.0.1/", 403, "private"},
		{"a link to a metadata service", "", "http://169.254.169.254/", 403, "denied by policy"},
		{"a metadata service with the token", r.token, "http://169.254.169.254/", 403, "denied by policy"},
		{"a blocked port with the token", r.token, "http://127.0.0.1:25/", 403, "port"},
		{"a wrong token", strings.Repeat("x", 20), server.URL + "/", 403, "loopback"},
		{"the token", r.token, server.URL + "/own", 200, "/own"},
	} {
		if code, text := get(t, r.client(c.token), c.url); code != c.code || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.about, code, text, c.code, c.want)
		}
	}
	// A tunnel is opened without a check, because the proxy itself is the server
	// of the tunnel. The requests inside are refused.
	if code, text := get(t, r.client(""), "https://127.0.0.1:25/"); code != 403 || !strings.Contains(text, "port") {
		t.Errorf("a tunnel to a blocked port: %d %q", code, text)
	}
	r.stop(syscall.SIGTERM)
	if got := captures(t, filepath.Join(dir, "all.warc.zst")); len(got) != 1 {
		t.Errorf("captures: %v", got)
	}
}

// TestKill kills the recorder. All responses that clients received completely
// must be in the files, and the next run continues them.
func TestKill(t *testing.T) {
	dir := newDir(t)
	server := httptest.NewServer(http.HandlerFunc(web))
	defer server.Close()
	var mu sync.Mutex
	received := map[string]bool{}
	for round := range 5 {
		r := start(t, dir, "--output-dir", "out", "--warc-size", "2000")
		c := r.client(r.token)
		var clients sync.WaitGroup
		first := make(chan bool, 64)
		for worker := range 4 {
			clients.Go(func() {
				for i := 0; ; i++ {
					u := fmt.Sprintf("%s/%d/%d/%d", server.URL, round, worker, i)
					resp, err := c.Get(u)
					if err != nil {
						return
					}
					text, err := io.ReadAll(resp.Body)
					resp.Body.Close()
					if err != nil || resp.StatusCode != 200 || len(text) == 0 {
						return
					}
					mu.Lock()
					received["GET "+u] = true
					mu.Unlock()
					select {
					case first <- true:
					default:
					}
				}
			})
		}
		for range 10 * (round + 1) {
			<-first
		}
		r.stop(syscall.SIGKILL)
		clients.Wait()
	}
	r := start(t, dir, "--output-dir", "out")
	get(t, r.client(r.token), server.URL+"/last")
	r.stop(syscall.SIGTERM)
	files, _ := filepath.Glob(filepath.Join(dir, "out", "*.warc.gz*"))
	for _, name := range files {
		if strings.HasSuffix(name, warc.OpenSuffix) {
			t.Errorf("%s is unfinished", name)
		}
	}
	got := captures(t, files...)
	for u := range received {
		if got[u] == "" {
			t.Errorf("%s was received, but is not recorded", u)
		}
	}
	t.Logf("%d received, %d recorded in %d files", len(received), len(got), len(files))
}

// TestSignal checks that a request which is running when the recorder is ended
// is completed and recorded.
func TestSignal(t *testing.T) {
	dir := newDir(t)
	entered, release := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first ")
		w.(http.Flusher).Flush()
		entered <- true
		<-release
		io.WriteString(w, "last")
	}))
	defer server.Close()
	r := start(t, dir, "--warc", "all.warc")
	done := make(chan string, 1)
	go func() {
		_, text := get(t, r.client(r.token), server.URL+"/slow")
		done <- text
	}()
	<-entered
	r.process.Process.Signal(syscall.SIGTERM)
	awaitClosed(t, r.address)
	close(release)
	if text := <-done; text != "first last" {
		t.Errorf("%q", text)
	}
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, &r.messages)
	}
	if got := captures(t, filepath.Join(dir, "all.warc")); len(got) != 1 {
		t.Errorf("captures: %v", got)
	}
}

// awaitClosed waits until the listener is closed.
func awaitClosed(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(commandtest.WaitTimeout); time.Now().Before(end); {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		c.Close()
	}
	t.Error("the listener is still open")
}
