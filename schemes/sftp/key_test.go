package sftp_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/schemetest"
	"github.com/anyurl/fetch/schemes/sftp"
)

// TestPassphrase logs in with keys that have a passphrase. The first passphrase
// is wrong. Parallel connections ask once for the right one.
func TestPassphrase(t *testing.T) {
	s := peer.SSHD(t, peer.SSHDOptions{})
	s.Put("x", []byte("text\n"))
	for name, file := range map[string]string{"OpenSSH": encrypt(t, s.UserKey), "OpenSSL, RSA": traditional(t, s)} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			o := sftp.Options{KnownHosts: []string{s.KnownHosts}, Key: file}
			o.Passphrase = func(_ context.Context, file string) (fetch.Secret, error) {
				asked = append(asked, file)
				return map[bool]fetch.Secret{true: "wrong", false: "open sesame"}[len(asked) == 1], nil
			}
			c := schemetest.NewClient(t, sftp.Schemes(o))
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if _, body, err := schemetest.Read(t, c, "sftp://"+peer.User+"@"+s.Addr+s.Root+"/x"); err != nil || body != "text\n" {
						t.Errorf("got %q, %v", body, err)
					}
				})
			}
			all.Wait()
			if strings.Join(asked, " ") != file+" "+file {
				t.Errorf("asked for %q", asked)
			}
			o.Passphrase = nil
			c = schemetest.NewClient(t, sftp.Schemes(o))
			if _, _, err := schemetest.Read(t, c, "sftp://"+peer.User+"@"+s.Addr+s.Root+"/x"); err == nil || !strings.Contains(err.Error(), "has a passphrase") {
				t.Errorf("without a passphrase: got %v", err)
			}
		})
	}
}

// encrypt writes an encrypted copy of a key.
func encrypt(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte("open sesame"))
	if err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(locked, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return locked
}

// traditional writes an encrypted RSA key in the traditional format of OpenSSL.
// The server s accepts it.
func traditional(t *testing.T, s *peer.SSH) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(s.Dir, "authorized_keys")
	old, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, append(old, ssh.MarshalAuthorizedKey(public)...), 0o644); err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	locked := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(locked, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	keygen := peer.Need(t, "ssh-keygen", "openssh-client")
	if out, err := exec.Command(keygen, "-p", "-m", "PEM", "-N", "open sesame", "-f", locked).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v: %s", err, out)
	}
	return locked
}
