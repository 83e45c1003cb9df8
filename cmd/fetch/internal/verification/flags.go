// Package verification has the flags that verify downloads, such as --checksum
// and --signature. It retrieves the files that these flags name.
package verification

import (
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/verify"
	"github.com/anyurl/fetch/verify/blake"
)

// Flags are the flags that verify downloads.
type Flags struct {
	digests   digestList
	sums      []string
	signature []string
	keyrings  []string
}

// Names are the names of the flags, separated by spaces.
const Names = "checksum checksum-file signature keyring"

// Register adds the flags to s.
func (f *Flags) Register(s *options.Set) {
	p := s.Section("Verification")
	p.Var(&f.digests, "checksum", "`ALGORITHM=HEX`: fail unless the body has this digest")
	p.StringArrayVar(&f.sums, "checksum-file", nil, "verify files with the digests in `URL|FILE`")
	p.StringArrayVar(&f.signature, "signature", nil, "verify this signature of the list or the file: `URL|FILE`")
	p.StringArrayVar(&f.keyrings, "keyring", nil, "trust the public keys in `FILE` (OpenPGP, minisign, signify)")
}

// IsSet reports whether downloads are verified.
func (f *Flags) IsSet() bool { return len(f.digests)+len(f.sums)+len(f.signature)+len(f.keyrings) > 0 }

// Check returns an error if the flags do not fit together. The parameter urls is
// the number of URLs, or -1 if it is unknown.
func (f *Flags) Check(urls int) error {
	switch {
	case len(f.signature) > 0 && len(f.keyrings) == 0:
		return fetch.Usage.Errorf("--signature requires --keyring FILE with the trusted keys")
	case len(f.keyrings) > 0 && len(f.signature)+len(f.sums) == 0:
		return fetch.Usage.Errorf("--keyring requires --signature, or a signed file for --checksum-file")
	case len(f.sums) > 1 && len(f.signature) > 0:
		return fetch.Usage.Errorf("--signature with several --checksum-file flags is ambiguous")
	case len(f.sums) == 0 && len(f.signature) > 0 && urls != 1:
		return fetch.Usage.Errorf("--signature is the signature of one file: use a --checksum-file for several URLs")
	}
	return nil
}

// A digestList is the value of a flag that can be repeated. All digests are
// compared.
type digestList []verify.Digest

func (l *digestList) String() string {
	var texts []string
	for _, d := range *l {
		texts = append(texts, d.String())
	}
	return strings.Join(texts, ",")
}

func (l *digestList) Set(text string) error {
	d, err := verify.ParseDigest(text, blake.Algorithms()...)
	if err == nil {
		*l = append(*l, d)
	}
	return err
}

func (*digestList) Type() string { return "ALGORITHM=HEX" }

// Digests returns the digests of --checksum.
func (f *Flags) Digests() []verify.Digest { return f.digests }
