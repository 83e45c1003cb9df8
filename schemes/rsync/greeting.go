package rsync

import (
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	//lint:ignore SA1019 the protocol requires it
	"golang.org/x/crypto/md4"

	"github.com/anyurl/fetch/fetch"
)

// Versions of the protocol.
const (
	oldest     = 27 // of rsync 2.6.0
	varVersion = 30 // the first version with numbers of variable lengths
	newest     = 31
)

// Flags that a server of version 30 or later sends before the seed.
const (
	incremental = 1 << 0 // the list is sent in parts, which the driver does not request
	wideFlags   = 1 << 7 // the flags of entries have variable lengths, and the digest is negotiated
)

// capabilities are the capabilities of the driver in the arguments of the server:
// errors in lists, seeds before the data, and negotiated digests.
const capabilities = "e.fCv"

// loginDigests are the digests for passwords, the best first. Without
// negotiation, version 30 uses MD5, and earlier versions use MD4.
var loginDigests = []string{"sha512", "sha256", "md5"}

// fileDigests are the digests of files, the best first.
var fileDigests = []string{"xxh64", "md5", "md4"}

// A greeting is the first line of a server.
type greeting struct {
	version int    // version that the driver announces
	digest  string // for passwords
	listed  bool   // the server has sent the names of its digests
}

// parseGreeting parses the greeting of a server. The driver announces at most
// the version limit.
func parseGreeting(line string, limit int) (g greeting, err error) {
	var major, minor int
	n, _ := fmt.Sscanf(line, "@RSYNCD: %d.%d", &major, &minor)
	if n < 1 || major < oldest || major > 1000 {
		return g, fetch.Protocol.Errorf("not an rsync daemon of protocol %d or later", oldest)
	}
	g = greeting{version: min(major, limit), digest: "md5"}
	if g.version < varVersion || n < 2 || major <= newest && minor != 0 { // a version before its release has another number
		return greeting{version: oldest, digest: "md4"}, nil
	}
	if _, list, ok := strings.Cut(strings.TrimPrefix(line, "@RSYNCD: "), " "); ok {
		g.digest, g.listed = choose(loginDigests, list), true
	}
	return g, nil
}

// reply returns the line that answers the greeting.
func (g greeting) reply() string {
	text := fmt.Sprintf("@RSYNCD: %d", g.version)
	if g.version >= varVersion {
		text += ".0"
	}
	if g.listed {
		text += " " + strings.Join(loginDigests, " ")
	}
	return text + "\n"
}

// choose returns the first of own names that is in list, or "". Both sides choose
// in the order of the client.
func choose(own []string, list string) string {
	names := strings.Fields(list)
	if i := slices.IndexFunc(own, func(name string) bool { return slices.Contains(names, name) }); i >= 0 {
		return own[i]
	}
	return ""
}

// newDigest returns the digest with the given name, which begins with the seed
// if it is MD4. It returns nil for an unknown name.
func newDigest(name string, seed int32) hash.Hash {
	switch name {
	case "xxh64":
		return newXXH64()
	case "md5":
		return md5.New()
	case "sha256":
		return sha256.New()
	case "sha512":
		return sha512.New()
	case "md4":
		h := md4.New()
		h.Write(binary.LittleEndian.AppendUint32(nil, uint32(seed)))
		return h
	}
	return nil
}

// answer returns the answer to the challenge of a server.
func (g greeting) answer(password, challenge string) (string, error) {
	h := newDigest(g.digest, 0)
	if h == nil {
		return "", fetch.Auth.Errorf("the server supports no known digest of passwords")
	}
	io.WriteString(h, password+challenge)
	return base64.RawStdEncoding.EncodeToString(h.Sum(nil)), nil
}

// negotiate reads the flags of a server of version 30 or later, and the names of
// its digests if the flags announce them. It returns the name of the digest of
// files.
func (s *session) negotiate() (string, error) {
	flags, err := s.in.varint()
	switch {
	case err != nil:
		return "", err
	case flags&incremental != 0:
		return "", fetch.Protocol.Errorf("the server sends lists in parts, which was not requested")
	case flags&wideFlags == 0:
		return "md5", nil
	}
	s.in.wide = true
	own := strings.Join(fileDigests, " ")
	if err := s.Send(append([]byte{byte(len(own))}, own...), nil); err != nil {
		return "", err
	}
	size, err := s.in.byte()
	if err != nil {
		return "", err
	}
	n := int(size)
	if n >= 0x80 {
		low, err := s.in.byte()
		if err != nil {
			return "", err
		}
		n = (n&0x7f)<<8 | int(low)
	}
	const maxNames = 1 << 10
	if n > maxNames {
		return "", fetch.Protocol.Errorf("names of digests with %d bytes", n)
	}
	list, err := s.in.take(n)
	if err != nil {
		return "", err
	}
	name := choose(fileDigests, string(list))
	if name == "" {
		return "", fetch.Unsupported.Errorf("the server supports no known digest of files")
	}
	return name, nil
}
