package peer

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// TB is the part of testing.TB that this package needs, so that a program can
// start servers too; every *testing.T, *testing.B and *testing.F is one.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// The account that every server with accounts knows.
const (
	User     = "alice"
	Password = "s3cret"
)

// A Server is one running server. Its addresses are empty where it does not
// offer the service.
type Server struct {
	Addr    string // host:port, a numeric loopback address
	TLSAddr string // host:port of the same service with TLS from the first byte
	Port    uint16 // of Addr
	TLSPort uint16 // of TLSAddr
	Root    string // the directory that it serves; Put writes there
	Home    string // the login directory of its accounts, where it has any
	Dir     string // its configuration and logs, and Root below it
	Cert    *Cert  // what it shows to TLS clients; nil without TLS

	t   TB
	end func() // ends its processes; safe to call again
}

// newServer makes the directories of a server, readable by every account
// (unlike those of testing.T), and has them removed when the test ends.
func newServer(t TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "fetch-peer-")
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	s := &Server{t: t, Dir: dir, Root: filepath.Join(dir, "root"), end: func() {}}
	t.Cleanup(func() {
		s.Stop()
		if log := s.Log(); t.Failed() && log != "" {
			t.Logf("peer: %s", log)
		}
		// A process that was killed a moment ago may still add a file.
		for range 50 {
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("peer: %s could not be removed", dir)
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatalf("peer: %v", err)
	}
	s.mkdir(s.Root, "")
	return s
}

// Stop ends the server and all that it started, before the test does. It
// answers nothing afterwards; its port stays unused until the test ends.
func (s *Server) Stop() { s.end() }

// Put writes a file below Root, with the directories that lead to it, and
// returns its path. A server that is running sees it at once.
func (s *Server) Put(name string, data []byte) string {
	s.t.Helper()
	return s.put(s.Root, name, data)
}

// PutHome is Put below Home.
func (s *Server) PutHome(name string, data []byte) string {
	s.t.Helper()
	if s.Home == "" {
		s.t.Fatalf("peer: this server has no accounts")
	}
	return s.put(s.Home, name, data)
}

func (s *Server) put(dir, name string, data []byte) string {
	s.t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	s.mkdir(filepath.Dir(path), "")
	s.write(path, data, 0o644, "")
	return path
}

// Log returns the end of everything that the server printed and logged.
func (s *Server) Log() string {
	logs, _ := filepath.Glob(filepath.Join(s.Dir, "*.log"))
	var all string
	for _, path := range logs {
		if text, err := tail(path, 8<<10); err != nil {
			all += fmt.Sprintf("%s: %v\n", filepath.Base(path), err)
		} else if len(text) > 0 {
			all += fmt.Sprintf("%s:\n%s\n", filepath.Base(path), text)
		}
	}
	return all
}

// certify gives the server a certificate; nil stands for a new one.
func (s *Server) certify(c *Cert) {
	s.t.Helper()
	if c == nil {
		c = NewCert(s.t, CertOptions{})
	}
	s.Cert = c
}

// config writes a file into Dir and returns its path.
func (s *Server) config(name, text string) string {
	s.t.Helper()
	return s.configFor(name, text, "")
}

// configFor is config for a file that belongs to an account.
func (s *Server) configFor(name, text, owner string) string {
	s.t.Helper()
	path := filepath.Join(s.Dir, name)
	s.write(path, []byte(text), 0o644, owner)
	return path
}

// key copies the key of the certificate for servers that take none which
// others can read, and returns its path.
func (s *Server) key(owner string) string {
	s.t.Helper()
	data, err := os.ReadFile(s.Cert.KeyFile)
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	path := filepath.Join(s.Dir, "key.pem")
	s.write(path, data, 0o600, owner)
	return path
}

// write writes a file whatever the umask; owner names the account that it
// belongs to, "" leaves it with ours.
func (s *Server) write(path string, data []byte, mode os.FileMode, owner string) {
	s.t.Helper()
	err := os.WriteFile(path, data, mode)
	if err == nil {
		err = os.Chmod(path, mode)
	}
	if err == nil {
		err = chown(path, owner)
	}
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
}

// mkdir makes a directory that everyone may read and owner may write.
func (s *Server) mkdir(path, owner string) {
	s.t.Helper()
	err := os.MkdirAll(path, 0o755)
	if err == nil {
		err = os.Chmod(path, 0o755)
	}
	if err == nil {
		err = chown(path, owner)
	}
	if err != nil {
		s.t.Fatalf("peer: %v", err)
	}
}

func tail(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		if _, err := f.Seek(-n, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, n))
}
