package sftp

import (
	"crypto/x509"
	"errors"
	"io"
	"os"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
)

const (
	maxKey         = 1 << 20 // bytes of a key file
	maxPassphrases = 3       // attempts to decrypt a key
)

// readKey reads a private key. If the key has a passphrase, readKey returns a
// lockedKey.
func (a *authenticator) readKey(name string) (ssh.Signer, error) {
	text, err := readKeyFile(name)
	if err != nil {
		return nil, err
	}
	key, err := ssh.ParsePrivateKey(text)
	var missing *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &missing) && a.driver.options.Passphrase == nil:
		return nil, fetch.Local.Errorf("%s: the key has a passphrase: use a terminal, or add the key to the SSH agent", name)
	case errors.As(err, &missing):
		locked := &lockedKey{a: a, name: name, text: text, public: missing.PublicKey}
		if locked.public == nil {
			locked.public = readPublicKey(name + ".pub")
		}
		if locked.public == nil {
			return locked.unlock() // the old format of OpenSSL has no public key
		}
		return locked, nil
	case err != nil:
		return nil, fetch.Local.Errorf("%s: %w", name, err)
	}
	return key, nil
}

// readKeyFile returns the content of a small regular file.
func readKeyFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	if info.Size() > maxKey || !info.Mode().IsRegular() {
		return nil, fetch.Local.Errorf("%s: not a key file", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	return text, nil
}

// readPublicKey reads a public key. It returns nil if the key cannot be read.
func readPublicKey(name string) ssh.PublicKey {
	text, err := readKeyFile(name)
	if err != nil {
		return nil
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(text)
	if err != nil {
		return nil
	}
	return key
}

// A lockedKey is a private key with a passphrase. The passphrase is requested
// when the server has accepted the public key.
type lockedKey struct {
	a      *authenticator
	name   string
	text   []byte
	public ssh.PublicKey
}

// PublicKey implements ssh.Signer.
func (k *lockedKey) PublicKey() ssh.PublicKey { return k.public }

// Sign implements ssh.Signer.
func (k *lockedKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return k.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm implements ssh.AlgorithmSigner.
func (k *lockedKey) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	key, err := k.unlock()
	if err != nil {
		k.a.err = err
		return nil, err
	}
	if s, ok := key.(ssh.AlgorithmSigner); ok {
		return s.SignWithAlgorithm(rand, data, algorithm)
	}
	return key.Sign(rand, data)
}

// unlock decrypts the key. A driver requests each passphrase once.
func (k *lockedKey) unlock() (ssh.Signer, error) {
	a, d := k.a, k.a.driver
	defer a.limit.pause()()
	d.unlocking.Lock()
	defer d.unlocking.Unlock()
	if key := d.unlocked[k.name]; key != nil {
		return key, nil
	}
	for range maxPassphrases {
		passphrase, err := d.options.Passphrase(a.ctx, k.name)
		if err != nil {
			return nil, err
		}
		key, err := ssh.ParsePrivateKeyWithPassphrase(k.text, []byte(passphrase.Reveal()))
		switch {
		case errors.Is(err, x509.IncorrectPasswordError):
			a.trace.Notef("%s: wrong passphrase", k.name)
			continue
		case err != nil:
			return nil, fetch.Local.Errorf("%s: %w", k.name, err)
		}
		if d.unlocked == nil {
			d.unlocked = map[string]ssh.Signer{}
		}
		d.unlocked[k.name] = key
		return key, nil
	}
	return nil, fetch.Local.Errorf("%s: wrong passphrase", k.name)
}
