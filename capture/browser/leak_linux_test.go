package browser_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/anyurl/fetch/capture/browser"
	"github.com/anyurl/fetch/internal/test/peer"
)

// probePage returns a page that tries to reach a target, host:port, in all ways
// that pages have.
func probePage(target string) string {
	return strings.ReplaceAll(`<!DOCTYPE html><title>probes</title>
<link rel=preconnect href="http://TARGET/preconnect"><link rel=dns-prefetch href="//probe.invalid">
<link rel=prefetch href="http://TARGET/prefetch"><link rel=modulepreload href="http://TARGET/modulepreload">
<link rel=stylesheet href="http://TARGET/style"><link rel=icon href="http://TARGET/icon">
<style>@import "http://TARGET/import"; @font-face { font-family: f; src: url(http://TARGET/font) } p { font-family: f; background: url(http://TARGET/background) }</style>
<script type=speculationrules>{"prefetch": [{"urls": ["http://TARGET/speculation"]}]}</script>
<p>text</p><img src="http://TARGET/img"><script src="http://TARGET/script"></script>
<iframe src="http://TARGET/iframe"></iframe><object data="http://TARGET/object"></object><embed src="http://TARGET/embed">
<video src="http://TARGET/video" autoplay muted></video><audio src="http://TARGET/audio" autoplay></audio>
<a id=a href="#x" ping="http://TARGET/ping">a</a>
<form id=f action="http://TARGET/form" target=_blank method=post></form>
<script>
const t = 'http://TARGET', blob = text => URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
const probes = [
	() => fetch(t + '/fetch'), () => fetch(t + '/keepalive', {keepalive: true}), () => navigator.sendBeacon(t + '/beacon', 'x'),
	() => { const x = new XMLHttpRequest(); x.open('GET', t + '/xhr'); x.send() },
	() => new EventSource(t + '/events'), () => new WebSocket('ws://TARGET/socket'), () => new WebTransport('https://TARGET/transport'),
	() => import(t + '/module'), () => new Worker(blob('fetch("' + t + '/worker"); new Worker(URL.createObjectURL(new Blob([\'fetch("' + t + '/nested")\'])))')),
	() => new SharedWorker(blob('fetch("' + t + '/shared"); new WebSocket("ws://TARGET/shared-socket")')),
	() => { a.click() }, () => { f.submit() }, () => { open(t + '/popup') }, () => { open(t + '/noopener', '_blank', 'noopener') },
	() => { new Image().src = t + '/image' }, () => { new Audio(t + '/sound') },
	() => ['stun:TARGET', 'turn:TARGET?transport=udp', 'turn:TARGET?transport=tcp'].forEach(urls => {
		const c = new RTCPeerConnection({iceServers: [{urls, username: 'u', credential: 'p'}]});
		c.createDataChannel('d'); c.createOffer().then(o => c.setLocalDescription(o));
	}),
];
for (const p of probes) { try { const r = p(); if (r && r.catch) { r.catch(() => {}) } } catch (e) {} }
</script>`, "TARGET", target)
}

// A leakCounter counts what reaches its addresses.
type leakCounter struct {
	tcp, udp atomic.Int64
	addr     string
	close    func()
}

// newLeakCounter listens in the network of the current thread.
func newLeakCounter(t *testing.T) *leakCounter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := &leakCounter{addr: l.Addr().String(), close: func() { l.Close(); u.Close() }}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.tcp.Add(1)
			go func() {
				defer conn.Close()
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					fmt.Fprintf(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n")
					io.Copy(io.Discard, r.Body)
				}
			}()
		}
	}()
	go func() {
		for buffer := make([]byte, 1500); ; {
			if _, _, err := u.ReadFrom(buffer); err != nil {
				return
			}
			c.udp.Add(1)
		}
	}()
	return c
}

// control opens the probes in a Chromium without the proxy and the flags. The
// browser and the addresses are in a network namespace of their own, so that
// nothing leaves the machine.
func control(t *testing.T, program string) *leakCounter {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o700); err != nil || os.Chown(home, 65534, 65534) != nil {
		t.Fatal(err)
	}
	for dir := home; dir != "/" && dir != os.TempDir(); dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	var c *leakCounter
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			t.Errorf("unshare: %v", err)
			return
		}
		up := exec.Command("ip", "link", "set", "lo", "up")
		if text, err := up.CombinedOutput(); err != nil {
			t.Errorf("ip: %v: %s", err, text)
			return
		}
		c = newLeakCounter(t)
		pages, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Error(err)
			return
		}
		go http.Serve(pages, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, probePage(c.addr))
		}))
		cmd := exec.Command(program, "--headless", "--disable-gpu", "--no-first-run", "--user-data-dir="+home, "--timeout=5000",
			"--dump-dom", "http://"+pages.Addr().String()+"/")
		cmd.Env, cmd.Dir = []string{"HOME=" + home}, home
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, Pdeathsig: syscall.SIGKILL, Setpgid: true}
		if err := cmd.Start(); err != nil {
			t.Error(err)
			return
		}
		limit := time.AfterFunc(time.Minute, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		cmd.Wait()
		limit.Stop()
		pages.Close()
	})
	done.Wait()
	if c == nil {
		t.FailNow()
	}
	c.close()
	return c
}

// TestLeaks opens a page that tries to reach the network in all ways. In the
// control, the same probes reach their target.
func TestLeaks(t *testing.T) {
	peer.Need(t, "ip", "iproute2")
	b := open(t, browser.Options{PageTime: time.Minute, PageIdle: 2 * time.Second})
	program := "/usr/lib/chromium/chromium"
	if _, err := os.Stat(program); err != nil {
		program = peer.Need(t, "chromium", "chromium")
	}
	if c := control(t, program); c.tcp.Load() < 10 || c.udp.Load() == 0 {
		t.Errorf("control: %d connections, %d datagrams", c.tcp.Load(), c.udp.Load())
	} else {
		t.Logf("control: %d connections, %d datagrams", c.tcp.Load(), c.udp.Load())
	}

	c := newLeakCounter(t)
	defer c.close()
	site := &pages{texts: map[string]string{"http://a.test/": probePage(c.addr)}}
	p, err := b.Visit(t.Context(), &browser.Visit{URL: "http://a.test/", Handler: site, Navigate: func(string, bool) {}})
	if err != nil {
		t.Fatal(err)
	}
	if c.tcp.Load() > 0 || c.udp.Load() > 0 {
		t.Errorf("leaks: %d connections, %d datagrams", c.tcp.Load(), c.udp.Load())
	}
	if len(site.seen) < 20 {
		t.Errorf("the proxy saw only %q", site.seen)
	}
	t.Logf("%d requests through the proxy, notes %q", len(site.seen), p.Notes)
	checkNamespace(t, browser.PID(b))
}

// checkNamespace checks that a process has no network interface but loopback, and
// no connections outside of it.
func checkNamespace(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/dev", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[2:] {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), ":"); name != "lo" {
			t.Errorf("the browser has the network interface %s", name)
		}
	}
	own, _ := os.Readlink("/proc/self/ns/net")
	if theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid)); err != nil || theirs == own {
		t.Errorf("network namespace of the browser: %s, %v", theirs, err)
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if strings.Contains(string(status), "\nUid:\t0\t") {
		t.Error("the browser runs as root")
	}
	if command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(command), "no-sandbox") {
		t.Error("the browser runs without its sandbox")
	}
}
