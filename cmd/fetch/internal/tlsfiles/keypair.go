package tlsfiles

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/base/pkcs8"
)

// maxPassphrases is the maximum number of prompts for the passphrase of a key.
const maxPassphrases = 3

// loadCert reads the client certificate and its private key.
func (s Settings) loadCert(ctx context.Context, console Console) (pair tls.Certificate, err error) {
	certFile, pass := splitPassphrase(s.Cert)
	if s.Pass != "" {
		pass = s.Pass
	}
	keyFile := s.Key
	if keyFile == "" {
		keyFile = certFile
	}
	cert, err := readFile(certFile)
	if err != nil {
		return pair, err
	}
	key, err := readFile(keyFile)
	if err != nil {
		return pair, err
	}
	p := &passphrases{ctx: ctx, console: console, given: pass, file: keyFile}
	if pair, ok, err := loadPKCS12(p, cert, certFile); ok || err != nil {
		return pair, localError(certFile, err)
	}
	if b := encryptedKey(key); b != nil {
		der, err := decrypt(p, func(passphrase string) ([]byte, error) { return decryptBlock(b, passphrase) })
		if err != nil {
			return pair, localError(keyFile, err)
		}
		key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	}
	pair, err = tls.X509KeyPair(toPEM(cert, "CERTIFICATE"), toPEM(key, "PRIVATE KEY"))
	return pair, localError(keyFile, err)
}

// localError adds the name of a file and the Fault Local to err. It keeps an
// existing Fault, such as the Fault of a canceled prompt.
func localError(file string, err error) error {
	if err == nil || fetch.FaultOf(err) != fetch.Internal {
		return err
	}
	return fetch.Local.Errorf("%s: %w", file, err)
}

// splitPassphrase splits FILE:PASSPHRASE, as in curl. A backslash escapes a
// colon in the name. The complete text is the name if such a file exists.
func splitPassphrase(text string) (file, passphrase string) {
	if _, err := os.Stat(text); err == nil {
		return text, ""
	}
	var name strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ':':
			return name.String(), text[i+1:]
		case text[i] == '\\' && i+1 < len(text) && (text[i+1] == ':' || text[i+1] == '\\'):
			i++
		}
		name.WriteByte(text[i])
	}
	return name.String(), ""
}

// toPEM returns the content of a file in PEM. Without a PEM block, the file is
// in DER.
func toPEM(text []byte, kind string) []byte {
	if bytes.Contains(text, []byte("-----BEGIN ")) {
		return text
	}
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text})
}

// loadPKCS12 decodes a PKCS #12 file with a certificate, its key and the
// certificates of intermediate authorities. The result ok is false if text has
// another format.
func loadPKCS12(p *passphrases, text []byte, name string) (pair tls.Certificate, ok bool, err error) {
	if bytes.Contains(text, []byte("-----BEGIN ")) {
		return pair, false, nil
	}
	if _, err := x509.ParseCertificate(text); err == nil {
		return pair, false, nil
	}
	p.file, p.empty = name, true
	pair, err = decrypt(p, func(passphrase string) (pair tls.Certificate, err error) {
		if isCostly(text, maxIterations, maxLevels) {
			return pair, errors.New("the file requires too many iterations to derive a key")
		}
		key, cert, chain, err := pkcs12.DecodeChain(text, passphrase)
		if err != nil {
			return pair, err
		}
		pair = tls.Certificate{PrivateKey: key, Leaf: cert, Certificate: [][]byte{cert.Raw}}
		for _, c := range chain {
			pair.Certificate = append(pair.Certificate, c.Raw)
		}
		return pair, nil
	})
	return pair, true, err
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

// passphrases returns the passphrases of one file: the given one, or those that
// the user types.
type passphrases struct {
	ctx     context.Context
	console Console
	given   string
	file    string
	empty   bool // the file may have an empty passphrase
}

// decrypt calls open with passphrases until one of them is right.
func decrypt[T any](p *passphrases, open func(passphrase string) (T, error)) (result T, err error) {
	if p.given != "" || p.empty {
		if result, err = open(p.given); p.given != "" || !isWrongPassphrase(err) {
			return result, err
		}
	}
	if p.console.Ask == nil {
		return result, errors.New("the key has a passphrase, and there is no terminal to ask for it; use --pass")
	}
	for range maxPassphrases {
		passphrase, err := p.console.Ask(p.ctx, p.file)
		if err != nil {
			return result, err
		}
		if result, err = open(passphrase.Reveal()); !isWrongPassphrase(err) {
			return result, err
		}
		p.console.Note("%s: wrong passphrase", p.file)
	}
	return result, pkcs8.ErrPassphrase
}

func isWrongPassphrase(err error) bool {
	return errors.Is(err, pkcs8.ErrPassphrase) || errors.Is(err, x509.IncorrectPasswordError) ||
		errors.Is(err, pkcs12.ErrIncorrectPassword)
}

// decryptBlock decrypts a private key and returns it in the format of PKCS #8.
func decryptBlock(b *pem.Block, passphrase string) ([]byte, error) {
	if b.Type == "ENCRYPTED PRIVATE KEY" {
		return pkcs8.Decrypt(b.Bytes, passphrase)
	}
	key, err := ssh.ParseRawPrivateKeyWithPassphrase(pem.EncodeToMemory(b), []byte(passphrase))
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "unknown encryption mode"):
		return nil, err
	default: // the old format has no checksum: a wrong passphrase can also give invalid ASN.1
		return nil, pkcs8.ErrPassphrase
	}
	return x509.MarshalPKCS8PrivateKey(key)
}
