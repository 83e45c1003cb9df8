package faultnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// exchange is a client that sends one line and reads one answer. Like a driver,
// it sets a deadline for each operation.
func exchange(ctx context.Context, dial Dial) (string, error) {
	conn, err := dial(ctx, "tcp", there)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, "ask\r\n"); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// TestSweep makes each operation fail in each way.
func TestSweep(t *testing.T) {
	var seen []string
	Sweep(t, 1, func(t *testing.T, at int, f Failure) (count int) {
		synctest.Test(t, func(t *testing.T) {
			n := NewNetwork(t)
			s := n.Serve(there.String(), Script{Expect("^ask\r\n$"), Send("answer")})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			ctx, b := NewBreaker(ctx, at, f)
			start := time.Now()
			answer, err := exchange(ctx, b.Dial(n.Dial))
			count = b.Count()
			if at == 0 {
				if answer != "answer" || err != nil || b.Hit() {
					t.Errorf("whole: %q, %v, hit %v", answer, err, b.Hit())
				}
			} else if !b.Hit() {
				t.Error("the operation was not reached")
			}
			if f == Canceled && at > 1 { // the end of ctx and the operation race
				if c := class(err); c != "ok" && c != "timeout" || time.Since(start) != 0 {
					t.Errorf("%q, %v after %v", answer, err, time.Since(start))
				}
			} else {
				seen = append(seen, fmt.Sprintf("%d %s: %q %s after %v", at, f, answer, class(err), time.Since(start)))
			}
			s.Close()
		})
		return count
	})
	// Operations: dial, write, read "answer", read io.EOF.
	want := strings.Split(strings.TrimSpace(`
0 broken: "answer" ok after 0s
1 broken: "" refused after 0s
1 short: "" refused after 0s
1 silent: "" timeout after 1h0m0s
1 canceled: "" canceled after 0s
2 broken: "" reset after 0s
2 short: "" short write after 0s
2 silent: "" timeout after 1m0s
3 broken: "" reset after 0s
3 short: "answer" ok after 0s
3 silent: "" timeout after 1m0s
4 broken: "answer" reset after 0s
4 short: "answer" ok after 0s
4 silent: "answer" timeout after 1m0s`), "\n")
	if !slices.Equal(seen, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
	}
}

func class(err error) string {
	var timeout net.Error
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case errors.Is(err, io.ErrShortWrite):
		return "short write"
	case errors.Is(err, context.Canceled):
		return "canceled"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return err.Error()
}

// TestSilentEndsWithClose: Close ends an operation without a deadline.
func TestSilentEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := Pipe(here, there)
		defer far.Close()
		_, b := NewBreaker(t.Context(), 1, Silent)
		conn := b.Wrap(near)
		io.WriteString(far, "ready")
		time.AfterFunc(time.Second, func() { conn.Close() })
		if n, err := conn.Read(make([]byte, 5)); n != 0 || !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, net.ErrClosed) {
			t.Errorf("read %d, %v", n, err)
		}
	})
}

func TestBreakerHalfClose(t *testing.T) {
	near, far := Pipe(here, there)
	_, b := NewBreaker(t.Context(), 0, Broken)
	conn := b.Wrap(near)
	defer conn.Close()
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Error(err)
	}
	if _, err := far.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("read %v", err)
	}
	half, _ := net.Pipe()
	if err := b.Wrap(half).(interface{ CloseWrite() error }).CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("half close of a net.Pipe: %v", err)
	}
}
