package smb

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"slices"

	"github.com/anyurl/fetch/fetch"
)

// A decrypter decrypts the messages of a server with AES-128-GCM, so that the
// guard can check the entries of directories. The library decrypts all messages
// a second time, and does not export its keys.
type decrypter struct {
	hash [sha512.Size]byte // of the messages of the login (section 3.2.5.2 of [MS-SMB2])
	aead cipher.AEAD       // nil if the messages cannot be decrypted
}

// add adds a message of the login.
func (d *decrypter) add(message []byte) {
	d.hash = sha512.Sum512(slices.Concat(d.hash[:], message))
}

// setKey derives the key from the key of the session. Only version 3.1.1 has
// AES-128-GCM.
func (d *decrypter) setKey(session []byte, version uint16) {
	if version != version311 || len(session) == 0 {
		return
	}
	h := hmac.New(sha256.New, session) // SP 800-108 in counter mode, with a key of 128 bits
	h.Write([]byte{0, 0, 0, 1})
	h.Write([]byte("SMBS2CCipherKey\x00\x00"))
	h.Write(d.hash[:])
	h.Write([]byte{0, 0, 0, 128})
	block, err := aes.NewCipher(h.Sum(nil)[:16])
	if err != nil {
		return
	}
	d.aead, _ = cipher.NewGCM(block)
}

// encryptedSize is the size of the header of an encrypted message (section
// 2.2.41).
const encryptedSize = 52

// open returns the content of an encrypted message, which has at least
// headerSize bytes.
func (d *decrypter) open(b []byte) ([]byte, error) {
	unsupported := fetch.Unsupported.Errorf("the server does not encrypt with AES-128-GCM, which is necessary for directories")
	if d.aead == nil {
		return nil, unsupported
	}
	tag, nonce, header := b[4:20], b[20:][:d.aead.NonceSize()], b[20:encryptedSize]
	content, err := d.aead.Open(nil, nonce, slices.Concat(b[encryptedSize:], tag), header)
	if err != nil {
		return nil, unsupported
	}
	return content, nil
}
