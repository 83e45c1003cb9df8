package peer

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// TB contains the methods of testing.TB that this package uses, so that
// programs other than tests can start servers. *testing.T, *testing.B and
// *testing.F implement TB.
type TB interface {
	Helper()
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// User name and password of the default account of all servers.
const (
	User     = "alice"
	Password = "s3cret"
)

// A Server is a running test server. The address of a service that the server
// does not offer is empty.
type Server struct {
	Addr    string // host:port, a numeric loopback address
	TLSAddr string // host:port of the same service with TLS from the first byte
	UDPAddr string // host:port of the same service over QUIC
	Port    uint16 // port of Addr
	TLSPort uint16 // port of TLSAddr
	Root    string // the served directory; Put writes to it
	Home    string // the home directory of its accounts, if any
	Dir     string // the directory that contains the configuration, logs and Root
	Cert    *Cert  // certificate of the server; nil without TLS

	t     TB
	end   func()       // kills the processes; may be called more than once
	again func() error // kills the processes and starts them again

	accepts func() error // returns an error until the server accepts requests; may be nil
}

// newServer creates the directories of a server and removes them at the end of
// the test. Unlike the directories of testing.T.TempDir, they are readable by
// all accounts.
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
		// A killed process may still create files for a short time.
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

// Stop kills the server before the end of the test. The port of the server
// remains reserved until the end of the test.
func (s *Server) Stop() { s.end() }

// Restart ends the server without a clean shutdown and starts it again on the
// same ports with the same files. It also starts a stopped server.
func (s *Server) Restart() {
	s.t.Helper()
	if err := s.again(); err != nil {
		s.t.Fatalf("peer: restart: %v", err)
	}
}

// Put writes a file below Root and returns the path of the file. It creates
// missing directories. A running server serves the file immediately.
func (s *Server) Put(name string, data []byte) string {
	s.t.Helper()
	return s.put(s.Root, name, data)
}

// PutHome writes a file below Home and returns the path of the file.
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

// Log returns the last part of the output and logs of the server.
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

// certify sets the certificate of the server. If c is nil, certify creates a
// certificate.
func (s *Server) certify(c *Cert) {
	s.t.Helper()
	if c == nil {
		c = NewCert(s.t, CertOptions{})
	}
	s.Cert = c
}

// config writes a configuration file to Dir and returns its path.
func (s *Server) config(name, text string) string {
	s.t.Helper()
	return s.configFor(name, text, "")
}

// configFor writes a configuration file to Dir, makes owner its owner, and
// returns its path.
func (s *Server) configFor(name, text, owner string) string {
	s.t.Helper()
	path := filepath.Join(s.Dir, name)
	s.write(path, []byte(text), 0o644, owner)
	return path
}

// key copies the private key of the certificate to a file that only owner can
// read, and returns its path. Some servers reject keys that other accounts can
// read.
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

// write writes a file with exactly the given mode. If owner is not empty, it is
// the account that owns the file.
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

// mkdir creates a directory that all accounts can read and owner can write.
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
