package sftp

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/anyurl/fetch/fetch"
)

// A hostKey is a line of a known_hosts file.
type hostKey struct {
	ssh.PublicKey
	marker string   // "revoked", "cert-authority" or ""
	hosts  []string // patterns, or one hashed name
	file   string
	line   int
}

// readHostKeys calls add for each line of a known_hosts file.
func readHostKeys(name string, add func(hostKey)) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		marker, hosts, key, _, _, err := ssh.ParseKnownHosts(line)
		switch {
		case err == io.EOF: // no key
		case err != nil:
			return fmt.Errorf("%s, line %d: %w", name, number, err)
		default:
			add(hostKey{key, marker, hosts, name, number})
		}
	}
	return nil
}

// findKey returns the first line with the given key.
func findKey(all []hostKey, key ssh.PublicKey) (hostKey, bool) {
	for _, k := range all {
		if bytes.Equal(k.Marshal(), key.Marshal()) {
			return k, true
		}
	}
	return hostKey{}, false
}

// sshPort is the port of names without a port.
const sshPort = 22

// matchesHost reports whether the patterns of a line match a server, as in
// sshd(8): a name has the form [HOST]:PORT unless the port is 22, the case is
// ignored, and a pattern with "!" excludes the server. Package knownhosts compares
// ports and names separately, so that a pattern for a host and a port would not
// exclude it from the pattern "*".
func matchesHost(patterns []string, server fetch.Target) (matches bool) {
	names := []string{"[" + server.Host + "]:" + strconv.Itoa(int(server.Port))}
	if server.Port == sshPort {
		names = append(names, server.Host)
	}
	for _, p := range patterns {
		p, negated := strings.CutPrefix(p, "!")
		for _, name := range names {
			switch {
			case !matchesName(p, name):
			case negated:
				return false
			default:
				matches = true
			}
		}
	}
	return matches
}

// matchesName reports whether a pattern or a hash matches a name, which is in
// lower case.
func matchesName(pattern, name string) bool {
	if rest, ok := strings.CutPrefix(pattern, "|1|"); ok {
		salt, hash, _ := strings.Cut(rest, "|")
		key, err := base64.StdEncoding.DecodeString(salt)
		mac := hmac.New(sha1.New, key)
		mac.Write([]byte(name))
		return err == nil && hash == base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	if pattern = strings.ToLower(pattern); !strings.ContainsAny(pattern, "*?") {
		return pattern == name
	}
	ok, err := regexp.MatchString("^"+wildcards.Replace(regexp.QuoteMeta(pattern))+"$", name)
	return ok && err == nil
}

// wildcards replaces quoted wildcards by regular expressions.
var wildcards = strings.NewReplacer(`\*`, ".*", `\?`, ".")
