package peer_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

// verdict records the outcome of a test.
type verdict struct {
	*testing.T
	skipped, failed string
}

func (v *verdict) Skipf(format string, args ...any) {
	v.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestNeed(t *testing.T) {
	if testing.Short() {
		t.Skip("Need skips every test with -short")
	}
	for _, test := range []struct {
		ci     string
		failed bool
	}{{"", false}, {"true", true}} {
		t.Run("CI="+test.ci, func(t *testing.T) {
			t.Setenv("CI", test.ci)
			v := &verdict{T: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				peer.Need(v, "no-such-daemon", "no-such-package")
			}()
			<-done
			said, unsaid := v.skipped, v.failed
			if test.failed {
				said, unsaid = unsaid, said
			}
			if !strings.Contains(said, "no-such-package") || unsaid != "" {
				t.Errorf("skipped %q, failed %q", v.skipped, v.failed)
			}
		})
	}
}

// A stopped server leaves no process, and its port is free.
func TestStop(t *testing.T) {
	t.Parallel()
	s := peer.Nginx(t, peer.NginxOptions{})
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	s.Stop()
	s.Stop()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		t.Errorf("read from a stopped server: %v, want its end", err)
	}
	if conn, err := net.Dial("tcp", s.Addr); err == nil {
		conn.Close()
		t.Errorf("%s still answers", s.Addr)
	}
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error)
	return ok && timeout.Timeout()
}

// curl runs curl as an independent client and returns its standard output.
func curl(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tryCurl(t, args...)
	if err != nil {
		t.Fatalf("curl %q: %v", args, err)
	}
	return out
}

func tryCurl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	program := peer.Need(t, "curl", "curl")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"-q", "-sS", "--noproxy", "*"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// talk sends lines with CRLF and returns the first line of the greeting and of
// each reply.
func talk(t *testing.T, conn net.Conn, lines ...string) []string {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	var replies []string
	for i := -1; i < len(lines); i++ {
		if i >= 0 {
			if _, err := fmt.Fprintf(conn, "%s\r\n", lines[i]); err != nil {
				t.Fatal(err)
			}
		}
		reply, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %q: %v", replies, err)
		}
		replies = append(replies, strings.TrimRight(reply, "\r\n"))
	}
	return replies
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}
