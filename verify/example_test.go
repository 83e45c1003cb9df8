package verify_test

import (
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/anyurl/fetch/verify"
)

// This example compares a text with the digest in a list of digests.
func ExampleReadSums() {
	const list = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  hello.txt\n"
	sums, err := verify.ReadSums(strings.NewReader(list), "SHA256SUMS")
	if err != nil {
		log.Fatal(err)
	}
	checks, err := sums.Checks("hello.txt")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range checks {
		io.WriteString(c, "hello\n")
		fmt.Println(c.Verify(), c)
	}
	// Output: <nil> sha256 of SHA256SUMS
}
