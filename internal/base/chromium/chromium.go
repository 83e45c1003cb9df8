// Package chromium starts a Chromium that reaches no network but the listeners
// that the package opens for it. The caller serves a proxy on these listeners and
// controls the browser over a pipe; see package cdp.
//
// On Linux, the browser runs in a network namespace whose only interface is
// loopback. The listeners are in this namespace, so that no other program can
// connect to them. On other systems, the flags of the browser are the only
// isolation, and [Process.Isolated] is false.
//
// The browser always runs with its own sandbox. A process with root privileges
// starts it as another user.
package chromium

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/base/tempdir"
)

// Options configures [Start].
type Options struct {
	Path      string   // program; "" means the first known program that is installed
	Listeners int      // number of listeners
	Profile   string   // directory of the user data; "" means a temporary directory
	Child     bool     // if true, the function main of this program calls Child, which a user without root privileges needs
	Headed    bool     // if true, the browser opens a window on the screen of the user
	Args      []string // additional arguments, such as a URL

	// If DefaultProxy is true, the default browser context uses the first
	// listener as its proxy. Otherwise only contexts that the caller creates with
	// Proxy reach a listener, and the own requests of the browser reach none.
	DefaultProxy bool

	// KeyHash is the hash of the key of a certificate authority that the browser
	// also trusts. It may be "".
	KeyHash string
}

// A Process is a running browser.
type Process struct {
	Listeners []net.Listener // listeners that the browser can reach
	In        *os.File       // receives messages of the DevTools protocol
	Out       *os.File       // returns messages of the DevTools protocol
	Isolated  bool           // if true, the browser has no other network than Listeners

	cmd     *exec.Cmd
	ended   chan struct{}
	output  tail
	dir     tempdir.Dir // removed by Close
	closing sync.Once
}

// Start starts a browser. The caller must call Close.
func Start(o Options) (*Process, error) {
	program, err := find(o.Path)
	if err == nil {
		err = o.openProfile()
	}
	if err != nil {
		return nil, err
	}
	p := &Process{ended: make(chan struct{})}
	if p.dir, err = tempdir.Create(os.TempDir(), "fetch-browser-"); err != nil {
		return nil, err
	}
	user, err := userOf(&o)
	if err == nil {
		err = user.own(p.dir.Path())
	}
	if err == nil {
		err = p.start(program, &o, user)
	}
	if err != nil {
		p.dir.Remove()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return p, nil
}

// start opens the pipes and starts the program.
func (p *Process) start(program string, o *Options, user account) error {
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		ourIn.Close()
		return err
	}
	defer theirOut.Close()
	p.In, p.Out = ourIn, ourOut
	p.cmd = &exec.Cmd{
		Path: program, Dir: p.dir.Path(), Env: environment(p.dir.Path(), o.Headed),
		ExtraFiles: []*os.File{theirIn, theirOut}, // the file descriptors 3 and 4
		Stdout:     &p.output, Stderr: &p.output,
		WaitDelay: time.Second, // child processes may keep the output open
	}
	if err := p.run(o, user); err != nil {
		ourIn.Close()
		ourOut.Close()
		p.closeListeners()
		return err
	}
	return nil
}

// Ended returns a channel that is closed when the browser has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Output returns the last lines that the browser has written to its standard
// output and standard error. They can contain text of pages.
func (p *Process) Output() string { return p.output.String() }

// PID returns the identifier of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Proxy returns the URL of the proxy on a listener, for the browser.
func Proxy(l net.Listener) string { return "http://" + l.Addr().String() }

// Close kills the browser, waits until it has ended, and closes the listeners. It can be
// called more than once.
func (p *Process) Close() {
	p.closing.Do(func() {
		p.Kill()
		<-p.ended
		p.In.Close()
		p.Out.Close()
		p.closeListeners()
		p.dir.Remove()
	})
}

func (p *Process) closeListeners() {
	for _, l := range p.Listeners {
		l.Close()
	}
}

// listen opens the listeners in the current network. In a new namespace, all
// ports are free, so the first port is fixed. A first port of 0 means any ports.
func listen(n, first int) (all []net.Listener, err error) {
	for i := range n {
		port := 0
		if first > 0 {
			port = first + i
		}
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			for _, l := range all {
				l.Close()
			}
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// names lists the programs that Start looks for.
var names = [...]string{
	"/usr/lib/chromium/chromium", // the program of Debian without its script
	"chromium", "chromium-browser", "google-chrome", "chrome",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// find returns the path of the program.
func find(path string) (string, error) {
	if path != "" {
		return exec.LookPath(path)
	}
	for _, name := range names {
		if found, err := exec.LookPath(name); err == nil {
			return found, nil
		}
	}
	return "", errors.New("Chromium is not installed")
}

// environment returns the environment of the browser. It contains no variables of
// the user, such as proxies, except those that name the screen.
func environment(dir string, headed bool) []string {
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "XDG_CONFIG_HOME=" + dir, "XDG_CACHE_HOME=" + dir, "PATH=/usr/bin:/bin"}
	for _, name := range []string{"LANG", "LC_ALL", "TZ"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	if !headed {
		return env
	}
	for _, name := range []string{"DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// deadProxy is the address of a proxy that does not exist. The own requests of the browser, for
// example for updates, end there.
const deadProxy = "http://127.0.0.1:9"

// dashes is the beginning of each flag of the browser.
const dashes = "--"

// arguments returns the command line without the name of the program.
func (p *Process) arguments(o *Options, firstProxy string) []string {
	profile := o.Profile
	if profile == "" {
		profile = filepath.Join(p.dir.Path(), "profile")
	}
	proxy := deadProxy
	if o.DefaultProxy {
		proxy = firstProxy
	}
	args := []string{
		"remote-debugging-pipe", "user-data-dir=" + profile,
		"proxy-server=" + proxy, "proxy-bypass-list=<-loopback>",
		"host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
		"force-webrtc-ip-handling-policy", "webrtc-ip-handling-policy=disable_non_proxied_udp",
		"disable-quic", "dns-prefetch-disable", "no-pings",
		"no-first-run", "no-default-browser-check", "disable-background-networking", "disable-sync",
		"disable-component-update", "disable-default-apps", "disable-extensions", "disable-breakpad",
		"disable-client-side-phishing-detection", "disable-domain-reliability", "metrics-recording-only",
		"disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,CertificateTransparencyComponentUpdater,DialMediaRouteProvider,HttpsUpgrades",
		"password-store=basic", "use-mock-keychain", "log-level=3",
		"js-flags=" + dashes + "max-old-space-size=1024",
	}
	if o.KeyHash != "" {
		args = append(args, "ignore-certificate-errors-spki-list="+o.KeyHash)
	}
	if !o.Headed {
		args = append(args, "headless", "mute-audio", "disable-gpu", "window-size=1280,800", "no-startup-window",
			"disable-background-timer-throttling", "disable-backgrounding-occluded-windows", "disable-renderer-backgrounding")
	}
	for i, a := range args {
		args[i] = dashes + a
	}
	return append(args, o.Args...)
}

// A tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is the number of bytes that a tail keeps.
const tailSize = 16 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

var _ io.Writer = (*tail)(nil)
