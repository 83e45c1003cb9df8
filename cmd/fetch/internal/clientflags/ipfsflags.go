package clientflags

import (
	"cmp"
	"os"

	"golang.org/x/crypto/blake2b"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/schemes/http"
	"github.com/anyurl/fetch/schemes/http/ipfs"
)

// ipfsFlags are the flags for ipfs URLs.
type ipfsFlags struct{ gateway string }

func (f *ipfsFlags) register(s *options.Set) {
	p := s.Section("Other schemes")
	p.StringVar(&f.gateway, "ipfs-gateway", "", "read the blocks of ipfs URLs from the trustless gateway at `URL`")
}

func (f *ipfsFlags) options(web http.Options) ipfs.Options {
	return ipfs.Options{Gateway: cmp.Or(f.gateway, os.Getenv("IPFS_GATEWAY")), Blake2b: blake2b.Sum256, HTTP: web}
}
