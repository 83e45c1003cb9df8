package warc

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"iter"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Manifest writes the SHA-256 digest of each file of fsys that names returns,
// in the format of sha256sum. The command "sha256sum -c" verifies them.
func Manifest(w io.Writer, fsys fs.FS, names iter.Seq[string]) error {
	out := bufio.NewWriter(w)
	for name := range names {
		f, err := fsys.Open(name)
		if err != nil {
			return localError(err)
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return localError(err)
		}
		if _, err := out.Write(AppendManifest(nil, [sha256.Size]byte(h.Sum(nil)), name)); err != nil {
			return err
		}
	}
	return out.Flush()
}

var manifestEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)

// AppendManifest appends the line of one file. If the name contains a backslash
// or line break, it is escaped and the line starts with a backslash.
func AppendManifest(b []byte, sum [sha256.Size]byte, name string) []byte {
	escaped := manifestEscapes.Replace(name)
	if escaped != name {
		b = append(b, '\\')
	}
	b = hex.AppendEncode(b, sum[:])
	b = append(b, "  "...)
	b = append(b, escaped...)
	return append(b, '\n')
}

// A Sum is a line of a manifest.
type Sum struct {
	Name string
	Sum  [sha256.Size]byte
}

// ReadManifest reads the lines of a manifest of SHA-256. A line that is none is
// an error that ends the sequence.
func ReadManifest(r io.Reader) iter.Seq2[Sum, error] {
	return func(yield func(Sum, error) bool) {
		for line, err := range readLines(r) {
			var s Sum
			if err == nil {
				s, err = parseSum(strings.TrimSuffix(string(line), "\n"))
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func parseSum(line string) (s Sum, err error) {
	rest, escaped := strings.CutPrefix(line, `\`)
	const digits = 2 * sha256.Size
	if len(rest) < digits+3 || rest[digits] != ' ' || rest[digits+1] != ' ' && rest[digits+1] != '*' {
		return s, fetch.Protocol.Errorf("%.80q is no line of a manifest", line)
	}
	if _, err := hex.Decode(s.Sum[:], []byte(rest[:digits])); err != nil {
		return s, fetch.Protocol.Errorf("%.80q is no line of a manifest", line)
	}
	s.Name = rest[digits+2:]
	if escaped {
		s.Name = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r").Replace(s.Name)
	}
	return s, nil
}
