package localaddr

import (
	"net/netip"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// TestLocalRoutes checks addresses that this machine has although no interface
// lists them. It adds them in a network namespace of its own.
func TestLocalRoutes(t *testing.T) {
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("needs the program ip (Debian package iproute2)")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			done <- err
			return
		}
		defer close(done)
		s := new(Set)
		check := func(addr string, want bool) {
			t.Helper()
			if got, err := s.Contains(netip.MustParseAddr(addr)); got != want || err != nil {
				t.Errorf("%s: %v, %v, want %v", addr, got, err, want)
			}
		}
		add := func(args ...string) {
			t.Helper()
			if out, err := exec.Command(ip, args...).CombinedOutput(); err != nil {
				t.Errorf("ip %q: %v: %s", args, err, out)
			}
		}
		add("link", "set", "lo", "up")
		check("198.51.100.7", false)
		check("2001:db8:1::7", false)
		add("addr", "add", "198.51.100.1/24", "dev", "lo")
		add("route", "add", "local", "203.0.113.0/24", "dev", "lo")
		add("-6", "route", "add", "local", "2001:db8:1::/48", "dev", "lo")
		check("198.51.100.1", true)
		check("198.51.100.7", true) // another address of the prefix on lo
		check("203.0.113.9", true)
		check("::ffff:203.0.113.9", true)
		check("2001:db8:1::7", true)
		check("2001:db8:2::7", false)
		check("192.0.2.1", false)
		check("203.0.114.255", false)
		check("2001:db8:3::", false)
		add("route", "add", "broadcast", "203.0.114.255", "dev", "lo")
		add("-6", "route", "add", "anycast", "2001:db8:3::/128", "dev", "lo")
		check("203.0.114.255", true)
		check("2001:db8:3::", true)
	}()
	if err := <-done; err != nil {
		t.Skipf("needs a network namespace: %v", err)
	}
}

// FuzzIsLocalRoute checks that no reply causes a panic.
func FuzzIsLocalRoute(f *testing.F) {
	f.Add(routeRequest(netip.MustParseAddr("192.0.2.1")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, reply []byte) { isLocalRoute(reply) })
}
