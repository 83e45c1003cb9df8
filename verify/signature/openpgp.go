package signature

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ProtonMail/go-crypto/openpgp/armor"
	openpgp "github.com/ProtonMail/go-crypto/openpgp/v2"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
)

// maxSigners limits the number of signatures of a file. Debian signs with up to
// four keys.
const maxSigners = 32

// readOpenPGP reads the keys of a keyring, which is binary or has one or several
// armored blocks.
func readOpenPGP(text []byte) (keys openpgp.EntityList, err error) {
	blocks, err := dearmor(text, "PGP PUBLIC KEY BLOCK")
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		found, err := openpgp.ReadKeyRing(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		keys = append(keys, found...)
	}
	return keys, nil
}

// dearmor decodes all armored blocks of a text, which must have the given type.
// A text without armor is returned unchanged.
func dearmor(text []byte, kind string) (blocks [][]byte, err error) {
	const begin = "-----BEGIN PGP "
	if !bytes.Contains(text, []byte(begin)) {
		return [][]byte{text}, nil
	}
	for {
		i := bytes.Index(text, []byte(begin))
		if i < 0 {
			return blocks, nil
		}
		text = text[i:]
		end := bytes.Index(text[1:], []byte(begin))
		if end < 0 {
			end = len(text) - 1
		}
		block, err := armor.Decode(bytes.NewReader(text[:end+1]))
		if err != nil {
			return nil, err
		}
		if block.Type != kind {
			return nil, fmt.Errorf("armored block of the type %s", block.Type)
		}
		b, err := io.ReadAll(block.Body)
		if err != nil {
			return nil, err
		}
		blocks, text = append(blocks, b), text[end+1:]
	}
}

func (k *Keyring) checkOpenPGP(text []byte, source string) (verify.Check, error) {
	blocks, err := dearmor(text, openpgp.SignatureType)
	if err != nil {
		return nil, fetch.Mismatch.Errorf("%s is not a detached signature: %w", source, err)
	}
	if len(blocks) != 1 {
		return nil, fetch.Mismatch.Errorf("%s has %d signatures in separate blocks", source, len(blocks))
	}
	c := &openpgpCheck{keys: k.openpgp, signature: blocks[0], source: source}
	if err := c.open(); err != nil {
		return nil, err
	}
	return c, nil
}

// An openpgpCheck verifies a signature of OpenPGP. At least one of its
// signatures must be by a key of the keyring, and all signatures by such keys
// must be valid. Signatures by other keys are ignored.
type openpgpCheck struct {
	keys      openpgp.EntityList
	signature []byte
	source    string

	details *openpgp.MessageDetails
	next    nextReader
	scratch []byte
	err     error
	signers []string
}

// open parses the signature.
func (c *openpgpCheck) open() error {
	c.next, c.err = nextReader{}, nil
	d, err := openpgp.VerifyDetachedSignatureReader(c.keys, &c.next, bytes.NewReader(c.signature), nil)
	if err != nil {
		return fetch.Mismatch.Errorf("%s is not a signature of OpenPGP, minisign or signify: %w", c.source, err)
	}
	if len(d.SignatureCandidates) > maxSigners {
		return fetch.TooLarge.Errorf("%s has more than %d signatures", c.source, maxSigners)
	}
	known := func(s *openpgp.SignatureCandidate) bool { return s.SignedByEntity != nil }
	if !slices.ContainsFunc(d.SignatureCandidates, known) {
		return fetch.Mismatch.Errorf("%s: the keyring has no key %016X, which signed the file", c.source, d.SignatureCandidates[0].IssuerKeyId)
	}
	c.details = d
	return nil
}

// A nextReader returns the bytes of the current call of Write, and io.EOF after
// the last byte of the file.
type nextReader struct {
	bytes []byte
	ended bool
}

func (r *nextReader) Read(p []byte) (int, error) {
	n := copy(p, r.bytes)
	r.bytes = r.bytes[n:]
	if n == 0 && r.ended {
		return 0, io.EOF
	}
	return n, nil
}

const scratchSize = 32 << 10

// Write passes the bytes to the reader of the library, which computes the
// digests of the signatures. One Read of that reader calls Read of c.next once.
func (c *openpgpCheck) Write(p []byte) (int, error) {
	if c.scratch == nil {
		c.scratch = make([]byte, scratchSize)
	}
	for c.next.bytes = p; len(c.next.bytes) > 0 && c.err == nil; {
		_, c.err = c.details.UnverifiedBody.Read(c.scratch)
	}
	return len(p), nil
}

// Reset parses the signature again, which has been parsed before.
func (c *openpgpCheck) Reset() { c.err = c.open() }

func (c *openpgpCheck) Verify() error {
	c.next.ended = true
	if c.err == nil {
		if _, err := c.details.UnverifiedBody.Read(make([]byte, 1)); err != io.EOF {
			c.err = err
			if err == nil {
				c.err = errors.New("the signature was not verified")
			}
		}
	}
	if c.err != nil {
		return fetch.Mismatch.Errorf("the signature %s could not be verified: %w", c.source, c.err)
	}
	c.signers = nil
	for _, s := range c.details.SignatureCandidates {
		if s.SignedByEntity == nil {
			continue
		}
		if s.SignatureError != nil {
			return fetch.Mismatch.Errorf("the signature %s by the key %016X is not valid: %w", c.source, s.IssuerKeyId, s.SignatureError)
		}
		if s.SignedBy == nil {
			return fetch.Mismatch.Errorf("the signature %s by the key %016X was not verified", c.source, s.IssuerKeyId)
		}
		c.signers = append(c.signers, fmt.Sprintf("%X", s.SignedBy.Entity.PrimaryKey.Fingerprint))
	}
	if len(c.signers) == 0 || !c.details.IsVerified {
		return fetch.Mismatch.Errorf("the signature %s was not verified", c.source)
	}
	return nil
}

func (c *openpgpCheck) String() string {
	return fmt.Sprintf("signature %s by the key %s", c.source, c.signers[0])
}
