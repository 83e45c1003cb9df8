package signature_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify/signature"
)

// sign returns the public key and the signature of a text, as signify writes
// them.
func sign(text string) (key, signed string) {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	line := func(b []byte) string {
		return "untrusted comment: x\n" + base64.StdEncoding.EncodeToString(append([]byte("Ed12345678"), b...)) + "\n"
	}
	return line(private.Public().(ed25519.PublicKey)), line(ed25519.Sign(private, []byte(text)))
}

// The Check of a signature is a value for save.Options.Verify.
func ExampleKeyring() {
	key, signed := sign("the file")
	var keys signature.Keyring
	if err := keys.Add([]byte(key), "key.pub"); err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"the file", "another file"} {
		check, err := keys.Check([]byte(signed), "file.sig")
		if err != nil {
			log.Fatal(err)
		}
		io.WriteString(check, text)
		err = check.Verify()
		fmt.Println(err == nil, errors.Is(err, fetch.Mismatch))
	}
	// Output:
	// true false
	// false true
}
