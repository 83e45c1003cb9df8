package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

var (
	nameEscapes   = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)
	nameUnescapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r")
)

// appendDigest appends the manifest line of one file to b. If the name contains
// a backslash or a line break, the name is escaped, and the line starts with a
// backslash.
func appendDigest(b []byte, sum [sha256.Size]byte, name string) []byte {
	escaped := nameEscapes.Replace(name)
	if escaped != name {
		b = append(b, '\\')
	}
	b = hex.AppendEncode(b, sum[:])
	b = append(b, "  "...)
	b = append(b, escaped...)
	return append(b, '\n')
}

// parseDigest parses a line that appendDigest wrote, without its line break. It
// returns the escaped name of the file.
func parseDigest(line string) (sum [sha256.Size]byte, escaped string, ok bool) {
	digits, name, ok := strings.Cut(strings.TrimPrefix(line, `\`), "  ")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != len(sum) || name == "" || strings.HasPrefix(line, `\`) != strings.Contains(name, `\`) {
		return sum, "", false
	}
	return [sha256.Size]byte(b), name, true
}
