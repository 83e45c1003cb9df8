package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestFaultOf checks the classes of errors that have no Fault in their chain.
func TestFaultOf(t *testing.T) {
	for _, c := range []struct {
		err   error
		want  Fault
		retry bool
	}{
		{nil, 0, false},
		{errors.New("x"), Internal, false},
		{NotFound, NotFound, false},
		{fmt.Errorf("x: %w", TryLater.Errorf("y")), TryLater, true},
		{Auth.With(Timeout.Errorf("the inner class does not count")), Auth, false},
		{&Error{Op: "get", Err: Loop.Errorf("x")}, Loop, false},
		{context.Canceled, Canceled, false},
		{context.DeadlineExceeded, Timeout, true},
		{&net.DNSError{IsNotFound: true}, DNS, false},
		{&net.DNSError{IsTemporary: true}, DNS, true},
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, Connect, true},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, Timeout, true},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}, TLS, false},
		{tls.RecordHeaderError{}, TLS, false},
		{io.ErrUnexpectedEOF, Truncated, true},
		{&fs.PathError{Op: "write", Err: syscall.ENOSPC}, DiskFull, false},
		{&fs.PathError{Op: "open", Err: syscall.EACCES}, Local, false},
		{syscall.ECONNRESET, Connect, true},
		{fmt.Errorf("connect: %w", syscall.ECONNREFUSED), Connect, true},
		{syscall.EHOSTUNREACH, Connect, true},
		{syscall.ENETUNREACH, Connect, true},
	} {
		if got := FaultOf(c.err); got != c.want || Retryable(c.err) != c.retry {
			t.Errorf("%v: got %v, retry %v", c.err, got, Retryable(c.err))
		}
	}
	if !errors.Is(&Error{Op: "x", Err: syscall.ECONNRESET}, Connect) {
		t.Error("an Error does not tell the class of its cause")
	}
	if text := (&Error{Op: "get"}).Error(); text != "get: unknown error" {
		t.Errorf("an Error without a cause: %q", text)
	}
	if Fault(200).String() != "unknown" || Fault(0).retryable() {
		t.Error("a Fault that is none")
	}
}

// TestFaultNames checks the names in the comments of Fault.String.
func TestFaultNames(t *testing.T) {
	source, err := os.ReadFile("fault.go")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^//\t(\w+) +([a-z-]+)$`).FindAllSubmatch(source, -1) {
		listed[string(m[1])] = string(m[2])
	}
	constants := regexp.MustCompile(`(?m)^\t(\w+) .*// `).FindAllSubmatch(source, -1)
	if len(constants) != len(faults)-1 {
		t.Fatalf("%d constants, want %d", len(constants), len(faults)-1)
	}
	upper := regexp.MustCompile(`([a-z])([A-Z])`)
	for i, m := range constants {
		name := string(m[1])
		want, ok := listed[name]
		if !ok {
			want = strings.ToLower(upper.ReplaceAllString(name, "$1-$2"))
		}
		if got := Fault(i + 1).String(); got != want {
			t.Errorf("%s is printed as %q, but its comment says %q", name, got, want)
		}
	}
}
