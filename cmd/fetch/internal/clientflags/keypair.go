package clientflags

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/pkcs8"
)

// maxPassphrases is the number of times that the user is asked for the
// passphrase of a key.
const maxPassphrases = 3

// loadKeyPair reads a client certificate and its private key. It asks for the
// passphrase of an encrypted key.
func loadKeyPair(s *console.Streams, ctx context.Context, certFile, keyFile string) (pair tls.Certificate, err error) {
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return pair, fetch.Local.With(err)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return pair, fetch.Local.With(err)
	}
	if b := encryptedKey(key); b != nil {
		if key, err = decryptKey(s, ctx, b, keyFile); err != nil {
			return pair, fetch.Local.Errorf("%s: %w", keyFile, err)
		}
	}
	pair, err = tls.X509KeyPair(cert, key)
	return pair, fetch.Local.With(err)
}

// encryptedKey returns the PEM block of the private key in text if it is
// encrypted. Otherwise it returns nil.
func encryptedKey(text []byte) *pem.Block {
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		if strings.HasSuffix(b.Type, "PRIVATE KEY") {
			if b.Type == "ENCRYPTED PRIVATE KEY" || b.Headers["DEK-Info"] != "" {
				return b
			}
			return nil
		}
	}
	return nil
}

// decryptKey asks for the passphrase of a key and returns the decrypted key in
// PEM.
func decryptKey(s *console.Streams, ctx context.Context, b *pem.Block, name string) ([]byte, error) {
	if !s.CanPrompt() {
		return nil, errors.New("the key has a passphrase, and there is no terminal to ask for it")
	}
	for range maxPassphrases {
		passphrase, err := s.ReadPassphrase(ctx, name)
		if err != nil {
			return nil, err
		}
		der, err := decryptBlock(b, passphrase.Reveal())
		if errors.Is(err, pkcs8.ErrPassphrase) || errors.Is(err, x509.IncorrectPasswordError) {
			s.Note("%s: wrong passphrase", name)
			continue
		}
		return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
	}
	return nil, pkcs8.ErrPassphrase
}

// decryptBlock decrypts a private key and returns it in the format of PKCS #8.
func decryptBlock(b *pem.Block, passphrase string) ([]byte, error) {
	if b.Type == "ENCRYPTED PRIVATE KEY" {
		return pkcs8.Decrypt(b.Bytes, passphrase)
	}
	key, err := ssh.ParseRawPrivateKeyWithPassphrase(pem.EncodeToMemory(b), []byte(passphrase))
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}
