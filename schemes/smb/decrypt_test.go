package smb

import (
	"crypto/rand"
	"encoding/binary"
	"testing"

	"github.com/anyurl/fetch/fetch"
)

// encrypt returns an encrypted message.
func encrypt(d *decrypter, message []byte) []byte {
	header := append([]byte("\xfdSMB"), make([]byte, encryptedSize-4)...)
	rand.Read(header[20:32])
	sealed := d.aead.Seal(nil, header[20:32], message, header[20:])
	copy(header[4:], sealed[len(sealed)-16:])
	return append(header, sealed[:len(sealed)-16]...)
}

// TestEncrypted checks that the entries of directories and links are found in
// encrypted messages.
func TestEncrypted(t *testing.T) {
	other := &decrypter{}
	other.setKey([]byte("another key 0123"), version311)
	g := &guard{}
	g.keys.add([]byte("a message of the login"))
	overlapping := dirEntry("x", 0, 0)
	binary.LittleEndian.PutUint32(overlapping, 8)
	message := func(command uint16, status uint32, b []byte) []byte {
		return (&reply{command: command, status: status, body: b}).bytes()[frameSize:]
	}
	entries := func(b []byte) []byte {
		return message(cmdQueryDirectory, 0, append(body(8, 0, uint16(9), 2, uint16(72), 4, uint32(len(b))), b...))
	}
	for _, without := range []bool{true, false} {
		if !without {
			g.keys.setKey([]byte("0123456789abcdef"), version311)
		}
		for _, test := range []struct {
			name    string
			mode    mode
			keys    *decrypter
			message []byte
			want    fetch.Fault // 0: accepted
		}{
			{"entries", listing, &g.keys, entries(dirEntry("x", 0, 0)), 0},
			{"overlapping entries", listing, &g.keys, entries(append(overlapping, make([]byte, 200)...)), fetch.Protocol},
			{"link", opening, &g.keys, message(cmdCreate, stoppedOnSymlink, body(9)), fetch.Denied},
			{"file", opening, &g.keys, message(cmdCreate, 0, body(88)), 0},
			{"content of a file", calling, &g.keys, message(cmdRead, 0, body(88)), 0},
			{"several messages", listing, &g.keys, (&reply{next: 64}).bytes()[frameSize:], fetch.Protocol},
			{"short message", listing, &g.keys, []byte("x"), fetch.Protocol},
			{"nested", listing, &g.keys, make([]byte, 200), fetch.Protocol},
			{"another key", listing, other, entries(dirEntry("x", 0, 0)), fetch.Unsupported},
			{"another key for a file", opening, other, message(cmdCreate, 0, body(88)), 0},
			{"login", loggingIn, other, entries(nil), fetch.Protocol},
		} {
			keys, want := test.keys, test.want
			if without {
				if keys = other; test.mode == listing {
					want = fetch.Unsupported
				} else if test.mode != loggingIn {
					want = 0
				}
			}
			err := g.check(encrypt(keys, test.message), test.mode)
			if want == 0 && err != nil || want != 0 && fetch.FaultOf(err) != want {
				t.Errorf("%s, without a key %v: %v, want %v", test.name, without, err, want)
			}
		}
	}
}
