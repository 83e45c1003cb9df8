package gemini

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/trace"
)

// A hosts represents the file with the public keys of servers. Each line
// contains the host and port of a server, the digest of its public key, and the
// date of the first request. The digest has the format of the curl option
// --pinnedpubkey. Empty lines and lines that start with "#" are comments. If a
// server has several lines, the first one counts.
type hosts struct {
	path string // "" means the file in the state folder of the user
	mu   sync.Mutex
}

// maxHosts is the maximum size of the file in bytes.
const maxHosts = 16 << 20

// file returns the path of the file.
func (h *hosts) file() (string, error) {
	if h.path != "" {
		return h.path, nil
	}
	dir, err := stateFolder()
	if err != nil {
		return "", fetch.Local.Errorf("no folder for the keys of gemini servers: %w", err)
	}
	return filepath.Join(dir, "fetch", "gemini_hosts"), nil
}

// stateFolder returns the folder in which programs of the user store their
// state (XDG base directory specification).
func stateFolder() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir, nil
	}
	switch runtime.GOOS {
	case "windows":
		return os.UserCacheDir() // a folder that is not copied to other machines
	case "darwin", "ios":
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// lookup returns the digest of the key of a server, and the number of its line.
// It returns "" for an unknown server.
func (h *hosts) lookup(server string) (digest string, number int, err error) {
	name, err := h.file()
	if err != nil {
		return "", 0, err
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, fetch.Local.With(err)
	}
	defer f.Close()
	in := io.LimitedReader{R: f, N: maxHosts}
	digest, number, err = find(&in, server)
	switch {
	case err != nil:
		return "", 0, fetch.Local.Errorf("%s: %w", name, err)
	case digest == "" && in.N == 0:
		return "", 0, fetch.Local.Errorf("%s: larger than %d bytes", name, maxHosts)
	}
	return digest, number, nil
}

// find returns the digest in the first line of a server, and the number of the
// line.
func find(r io.Reader, server string) (digest string, number int, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		number++
		fields := bytes.Fields(lines.Bytes())
		if len(fields) >= 2 && serverName(string(fields[0])) == server {
			return string(fields[1]), number, nil
		}
	}
	return "", 0, lines.Err()
}

// serverName returns the normal form of a host and port. A final dot of the
// host does not name another server.
func serverName(address string) string {
	if i := strings.LastIndexByte(address, ':'); i > 0 && address[i-1] == '.' {
		return address[:i-1] + address[i:]
	}
	return address
}

// add appends the key of a server to the file. Each line is written by a single
// call, so that several processes can append to the file.
func (h *hosts) add(server, digest string, now time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch known, _, err := h.lookup(server); {
	case err != nil:
		return err
	case known == digest: // another request has added it
		return nil
	case known != "":
		return fetch.TLS.Errorf("%s used two keys in simultaneous connections", server)
	}
	name, err := h.file()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fetch.Local.With(err)
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fetch.Local.With(err)
	}
	_, err = f.WriteString(strings.Join([]string{server, digest, now.UTC().Format(time.DateOnly)}, " ") + "\n")
	return fetch.Local.With(errors.Join(err, f.Close()))
}

// A trust verifies the server of one connection.
type trust struct {
	hosts  *hosts
	server string
	config *tls.Config // for the handshake
	digest string      // the key of an unknown server, to be stored, or ""
}

// newTrust returns a trust for the server at the given host:port. If config
// selects CA certificates or disables the verification, these settings apply in
// place of the stored keys.
func (h *hosts) newTrust(server string, config *tls.Config) *trust {
	t := &trust{hosts: h, server: server, config: config.Clone()}
	if t.config == nil {
		t.config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if t.config.InsecureSkipVerify || t.config.RootCAs != nil {
		return t
	}
	t.config.InsecureSkipVerify = true
	verify := t.config.VerifyConnection
	t.config.VerifyConnection = func(s tls.ConnectionState) error {
		if verify != nil {
			if err := verify(s); err != nil {
				return err
			}
		}
		return t.verify(s)
	}
	return t
}

// verify compares the key of the server with the stored key.
func (t *trust) verify(s tls.ConnectionState) error {
	sum := sha256.Sum256(s.PeerCertificates[0].RawSubjectPublicKeyInfo)
	digest := "sha256//" + base64.StdEncoding.EncodeToString(sum[:])
	known, number, err := t.hosts.lookup(t.server)
	switch {
	case err != nil:
		return err
	case known == "":
		t.digest = digest
		return nil
	case known == digest:
		return nil
	}
	name, _ := t.hosts.file()
	return fetch.TLS.Errorf("the certificate of %s has changed: its key is %s, but line %d of %s has another key. "+
		"This may be an attack. If the change is expected, remove the line", t.server, digest, number, name)
}

// store adds the key of an unknown server to the file. It must be called after
// the handshake, when the server has proved that it owns the private key.
func (t *trust) store(events *trace.Trace, now time.Time) error {
	if t.digest == "" {
		return nil
	}
	events.Notef("first connection to %s: storing its key %s", t.server, t.digest)
	return t.hosts.add(t.server, t.digest, now)
}
