package archive

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"iter"
	"strings"
)

// writeDigests writes the SHA-256 digests of files in fsys, in the format of
// sha256sum. The sequence names contains the file names.
func writeDigests(w io.Writer, fsys fs.FS, names iter.Seq[string]) error {
	out := bufio.NewWriter(w)
	for name := range names {
		f, err := fsys.Open(name)
		if err != nil {
			return err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return err
		}
		if _, err := out.Write(appendDigest(nil, [sha256.Size]byte(h.Sum(nil)), name)); err != nil {
			return err
		}
	}
	return out.Flush()
}

var nameEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)

// appendDigest appends the line of one file to b. If the name contains a
// backslash or a line break, the name is escaped, and the line starts with a
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
