package verify

import (
	"bytes"
	"encoding/hex"
	"hash/maphash"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// MaxSums is the maximum size of a file with digests in bytes. The file is kept in
// memory.
const MaxSums = 16 << 20

// maxLine is the maximum length of a line in bytes. Longer lines are ignored.
const maxLine = 64 << 10

// Sums contains the digests of a file such as SHA256SUMS. It is safe for
// concurrent use.
type Sums struct {
	source    string
	algorithm string // for digests without the name of an algorithm, or ""
	more      []Algorithm
	text      []byte
	seed      maphash.Seed
	index     []sumLine // sorted by hash; about 8 bytes for each line
}

// A sumLine is the position of a line in the text, with the hash of the base
// name of its file.
type sumLine struct {
	hash   uint32
	offset uint32
}

// ReadSums reads the digests of files in the form of GNU coreutils, such as
//
//	HEX  debian.iso
//
// or in the form of BSD:
//
//	SHA256 (debian.iso) = HEX
//
// A backslash before the line marks a name with escaped characters. Lines
// without a digest are ignored, such as comments and the lines of a signature.
// A file that consists of a single digest applies to every name.
//
// The source is the name or the URL of the file. It appears in errors. A name
// such as SHA256SUMS or x.sha3-256 selects the algorithm of lines in the form of
// GNU. If it names none, the length of the digest does.
//
// The parameter more contains additional algorithms.
//
// The error has the Fault fetch.TooLarge if the file is longer than [MaxSums],
// and fetch.Mismatch if it has no digests.
func ReadSums(r io.Reader, source string, more ...Algorithm) (*Sums, error) {
	text, err := io.ReadAll(io.LimitReader(r, MaxSums+1))
	if err != nil {
		return nil, err
	}
	return ParseSums(text, source, more...)
}

// ParseSums is like [ReadSums], with the content of the file as text. The Sums
// refers to text, which must not be modified.
func ParseSums(text []byte, source string, more ...Algorithm) (*Sums, error) {
	if len(text) > MaxSums {
		return nil, fetch.TooLarge.Errorf("%s is longer than %d bytes", source, MaxSums)
	}
	s := &Sums{source: source, algorithm: algorithmOf(source), text: text, seed: maphash.MakeSeed(), more: more}
	s.index = make([]sumLine, 0, min(bytes.Count(text, []byte("\n"))+1, len(text)/8+1))
	for offset := 0; offset < len(text); {
		line, next := s.line(offset)
		if _, name, ok := s.parse(line); ok {
			s.index = append(s.index, sumLine{s.hash(path.Base(name)), uint32(offset)})
		}
		offset = next
	}
	if len(s.index) == 0 {
		return nil, fetch.Mismatch.Errorf("%s contains no digests", source)
	}
	slices.SortFunc(s.index, func(a, b sumLine) int {
		if a.hash != b.hash {
			return int(int64(a.hash) - int64(b.hash))
		}
		return int(a.offset) - int(b.offset)
	})
	return s, nil
}

func (s *Sums) hash(name string) uint32 { return uint32(maphash.String(s.seed, name)) }

// line returns the line at an offset of the text without the line end, and the
// offset of the next line.
func (s *Sums) line(offset int) (line string, next int) {
	rest := s.text[offset:]
	next = len(s.text)
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest, next = rest[:i], offset+i+1
	}
	if len(rest) > maxLine {
		return "", next
	}
	return strings.TrimSuffix(string(rest), "\r"), next
}

// Find returns the digests of the file with the given base name, one for each
// algorithm. Folders in the names of the list are ignored. It is an error with
// the Fault fetch.Mismatch if the list does not have the name, or has two
// different digests for it.
func (s *Sums) Find(name string) ([]Digest, error) {
	if len(s.index) == 1 {
		line, _ := s.line(int(s.index[0].offset))
		if d, listed, _ := s.parse(line); listed == "" {
			return []Digest{d}, nil
		}
	}
	hash := s.hash(name)
	i, _ := slices.BinarySearchFunc(s.index, hash, func(l sumLine, h uint32) int { return int(int64(l.hash) - int64(h)) })
	var found []Digest
	for ; i < len(s.index) && s.index[i].hash == hash; i++ {
		line, _ := s.line(int(s.index[i].offset))
		d, listed, _ := s.parse(line)
		if listed == "" || path.Base(listed) != name {
			continue
		}
		same := slices.IndexFunc(found, func(f Digest) bool { return f.Algorithm == d.Algorithm })
		switch {
		case same < 0:
			found = append(found, d)
		case found[same].String() != d.String():
			return nil, fetch.Mismatch.Errorf("%s is ambiguous: it has two different %s digests for the name %q", s.source, d.Algorithm, name)
		}
	}
	if len(found) == 0 {
		return nil, fetch.Mismatch.Errorf("%s has no digest for the name %q", s.source, name)
	}
	return found, nil
}

// Checks returns a Check for each digest of the file with the given base name.
// The error is the error of [Sums.Find].
func (s *Sums) Checks(name string) (checks []Check, err error) {
	digests, err := s.Find(name)
	for _, d := range digests {
		checks = append(checks, d.Check(s.source))
	}
	return checks, err
}

// parse parses a line. The name is "" if the line contains only a digest. The
// result ok is false for a line without a digest.
func (s *Sums) parse(line string) (d Digest, name string, ok bool) {
	line, escaped := strings.CutPrefix(line, `\`)
	if d, name, ok = parseTagged(withMore(s.more), line); !ok {
		digits, rest, separated := strings.Cut(line, " ")
		sum, err := hex.DecodeString(digits)
		if err != nil || len(sum) == 0 {
			return Digest{}, "", false
		}
		if d, ok = s.digest(sum); !ok {
			return Digest{}, "", false
		}
		if separated { // a second space marks text, and * marks binary
			name = rest
			if strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "*") {
				name = rest[1:]
			}
			ok = name != ""
		}
	}
	if escaped {
		name, ok = unescape(name, ok)
	}
	if strings.Contains(name, "\x00") {
		return Digest{}, "", false
	}
	return d, name, ok
}

// parseTagged parses a line in the form of BSD, such as "MD5 (name) = HEX".
func parseTagged(list iter.Seq[Algorithm], line string) (d Digest, name string, ok bool) {
	algorithm, rest, ok := strings.Cut(line, " (")
	end := strings.LastIndex(rest, ") = ")
	if !ok || end < 1 || strings.Contains(algorithm, " ") {
		return Digest{}, "", false
	}
	text := rest[end+len(") = "):]
	sum, err := hex.DecodeString(text)
	if err != nil {
		if sum, err = decodeBase64(text); err != nil { // signify writes base64
			return Digest{}, "", false
		}
	}
	d, ok = newDigest(list, algorithm, sum)
	return d, rest[:end], ok
}

// unescape decodes the escapes of an escaped name.
func unescape(name string, ok bool) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c == '\\' {
			if i++; i == len(name) {
				return "", false
			}
			switch name[i] {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case '\\':
			default:
				return "", false
			}
		}
		b.WriteByte(c)
	}
	return b.String(), ok
}

// digest returns the Digest of a line without the name of an algorithm.
func (s *Sums) digest(sum []byte) (Digest, bool) {
	if s.algorithm != "" {
		if d, ok := newDigest(withMore(s.more), s.algorithm, sum); ok {
			return d, true
		}
	}
	for a := range withMore(s.more) {
		if a.size == len(sum) {
			return Digest{a.name, [][]byte{sum}, a}, true
		}
	}
	return Digest{}, false
}

// algorithmOf returns the name of the algorithm in the name of a file, such as
// "sha3" for SHA3SUMS and "blake2b" for B2SUMS, or "".
func algorithmOf(source string) string {
	source, _, _ = strings.Cut(source, "?")
	name := plainName(path.Base(source))
	for _, a := range []struct{ part, algorithm string }{
		{"sha3", "sha3"}, {"blake2b", "blake2b"}, {"b2sum", "blake2b"}, {"blake3", "blake3"}, {"b3sum", "blake3"},
		{"sha512256", "sha512/256"}, {"sha512224", "sha512/224"},
	} {
		// "sha384" also begins with "sha3".
		if strings.Contains(name, a.part) && (a.part != "sha3" || !strings.Contains(name, "sha384")) {
			return a.algorithm
		}
	}
	return ""
}
