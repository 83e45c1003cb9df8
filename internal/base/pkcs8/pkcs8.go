// Package pkcs8 decrypts private keys in the format of PKCS #8 (RFC 5958), which
// the standard library reads only without encryption.
package pkcs8

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"hash"

	"golang.org/x/crypto/scrypt"
)

// ErrPassphrase means that a passphrase does not decrypt the key.
var ErrPassphrase = errors.New("wrong passphrase")

// Limits for the cost of a key derivation, which the file determines.
const (
	maxIterations = 10_000_000
	maxScrypt     = 256 << 20 // bytes of memory
)

// A keyInfo is an EncryptedPrivateKeyInfo.
type keyInfo struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

// parameters are the PBES2-params of RFC 8018 appendix A.4.
type parameters struct {
	Derivation, Encryption pkix.AlgorithmIdentifier
}

type pbkdf2Parameters struct {
	Salt       []byte
	Iterations int
	KeyLength  int                      `asn1:"optional"`
	PRF        pkix.AlgorithmIdentifier `asn1:"optional"`
}

// scryptParameters are the scrypt-params of RFC 7914 section 7.
type scryptParameters struct {
	Salt      []byte
	N, R, P   int
	KeyLength int `asn1:"optional"`
}

// The object identifiers of the supported algorithms.
const (
	oidPBES2  = "1.2.840.113549.1.5.13"
	oidPBKDF2 = "1.2.840.113549.1.5.12"
	oidScrypt = "1.3.6.1.4.1.11591.4.11"
)

func hashOf(oid string) func() hash.Hash {
	return map[string]func() hash.Hash{
		"":                    sha1.New,
		"1.2.840.113549.2.7":  sha1.New,
		"1.2.840.113549.2.8":  sha256.New224,
		"1.2.840.113549.2.9":  sha256.New,
		"1.2.840.113549.2.10": sha512.New384,
		"1.2.840.113549.2.11": sha512.New,
	}[oid]
}

// A block is a block cipher in CBC mode.
type block struct {
	open func(key []byte) (cipher.Block, error)
	key  int // bytes of the key
}

func blockOf(oid string) block {
	return map[string]block{
		"2.16.840.1.101.3.4.1.2":  {aes.NewCipher, 16},
		"2.16.840.1.101.3.4.1.22": {aes.NewCipher, 24},
		"2.16.840.1.101.3.4.1.42": {aes.NewCipher, 32},
		"1.2.840.113549.3.7":      {des.NewTripleDESCipher, 24},
	}[oid]
}

// Decrypt decrypts an EncryptedPrivateKeyInfo in DER, which is the content of a
// PEM block of the type ENCRYPTED PRIVATE KEY. It returns the private key in
// DER. It supports PBES2 (RFC 8018) with PBKDF2 or scrypt, and AES or 3DES. The
// error is ErrPassphrase if the passphrase is wrong.
func Decrypt(der []byte, passphrase string) ([]byte, error) {
	var info keyInfo
	var p parameters
	if rest, err := asn1.Unmarshal(der, &info); err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("malformed encrypted key: %v", err)
	}
	if oid := info.Algorithm.Algorithm.String(); oid != oidPBES2 {
		return nil, fmt.Errorf("key is encrypted with the unsupported algorithm %s", oid)
	}
	if _, err := asn1.Unmarshal(info.Algorithm.Parameters.FullBytes, &p); err != nil {
		return nil, fmt.Errorf("malformed encrypted key: %w", err)
	}
	b := blockOf(p.Encryption.Algorithm.String())
	if b.open == nil {
		return nil, fmt.Errorf("key is encrypted with the unsupported cipher %v", p.Encryption.Algorithm)
	}
	key, err := derive(p.Derivation, passphrase, b.key)
	if err != nil {
		return nil, err
	}
	c, err := b.open(key)
	if err != nil {
		return nil, err
	}
	var iv []byte
	if _, err := asn1.Unmarshal(p.Encryption.Parameters.FullBytes, &iv); err != nil || len(iv) != c.BlockSize() {
		return nil, fmt.Errorf("malformed encrypted key: initialization vector of %d bytes", len(iv))
	}
	return decrypt(c, iv, info.Data)
}

// derive derives a key of the given size from the passphrase.
func derive(a pkix.AlgorithmIdentifier, passphrase string, size int) ([]byte, error) {
	switch a.Algorithm.String() {
	case oidPBKDF2:
		var p pbkdf2Parameters
		if _, err := asn1.Unmarshal(a.Parameters.FullBytes, &p); err != nil {
			return nil, fmt.Errorf("malformed encrypted key: %w", err)
		}
		h := hashOf(p.PRF.Algorithm.String())
		if h == nil || p.Iterations < 1 || p.Iterations > maxIterations {
			return nil, fmt.Errorf("key has unsupported parameters of PBKDF2: %v, %d iterations", p.PRF.Algorithm, p.Iterations)
		}
		return pbkdf2.Key(h, passphrase, p.Salt, p.Iterations, size)
	case oidScrypt:
		var p scryptParameters
		if _, err := asn1.Unmarshal(a.Parameters.FullBytes, &p); err != nil {
			return nil, fmt.Errorf("malformed encrypted key: %w", err)
		}
		if p.N < 2 || p.R < 1 || p.P < 1 || p.N > maxScrypt/128 || p.R > maxScrypt/128/p.N ||
			p.P > min(64, maxScrypt/128/p.R) {
			return nil, fmt.Errorf("key has unsupported parameters of scrypt: %d, %d, %d", p.N, p.R, p.P)
		}
		return scrypt.Key([]byte(passphrase), p.Salt, p.N, p.R, p.P, size)
	}
	return nil, fmt.Errorf("key has the unsupported key derivation %v", a.Algorithm)
}

// decrypt decrypts data and removes the padding. Random data is a valid private
// key only with negligible probability, so that decrypt detects a wrong key.
func decrypt(c cipher.Block, iv, data []byte) ([]byte, error) {
	size := c.BlockSize()
	if len(data) == 0 || len(data)%size != 0 {
		return nil, fmt.Errorf("malformed encrypted key: %d bytes", len(data))
	}
	plain := make([]byte, len(data))
	cipher.NewCBCDecrypter(c, iv).CryptBlocks(plain, data)
	padding := plain[len(plain)-1]
	if padding == 0 || int(padding) > size || !bytes.HasSuffix(plain, bytes.Repeat([]byte{padding}, int(padding))) {
		return nil, ErrPassphrase
	}
	plain = plain[:len(plain)-int(padding)]
	if _, err := x509.ParsePKCS8PrivateKey(plain); err != nil {
		return nil, ErrPassphrase
	}
	return plain, nil
}
