// Package netrc reads logins from the file that ftp and curl use:
//
//	machine ftp.example.org login mary password "a secret"
//	default login anonymous password guest
//
// A [File] is the login function of a Client:
//
//	logins, warning, err := netrc.Open("")
//	...
//	client := fetch.New(fetch.Options{Login: logins.Login, RedirectLogin: logins.RedirectLogin}, all...)
//
// The default entry is for the host of a URL that a person typed. A host that a
// server named, by a link or a redirect, gets a machine entry of its own or no
// login. The Client calls neither function for a plaintext URL that a redirect
// from TLS leads to.
//
// No standard defines the format. It is read as curl 8 reads it, except for the
// cases that the tests name.
package netrc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// Limits of a netrc.
const (
	maxFile = 64 << 10
	maxWord = 4 << 10
)

// The ways in which a file is refused. Their text holds no word of the file.
var (
	errTooLong   = errors.New("too long for a netrc") // over 64 KiB, or a word of over 4 KiB
	errQuote     = errors.New("quote is not closed in its line")
	errIrregular = errors.New("not a regular file")
)

// A File holds the entries of a netrc. The zero File has none. It is safe for
// concurrent use.
type File struct{ entries []entry }

// An entry is one login. Account is the argument of the ACCT command of ftp.
type entry struct {
	Machine  string // as written
	Default  bool   // the entry of no machine, for any host
	Login    string
	Password *fetch.Secret // nil: none
	Account  *fetch.Secret // nil: none
}

// find returns the first entry for host that fits. With a login, which a URL
// may name, an entry fits that has a password for it, or a password for
// whoever comes, and it is returned with that login. Without one, any entry
// with a login or a password fits. The default entry fits any host, but only
// if a person typed that host: a server must not be able to draw it out by
// naming a host of its own choice.
//
// Hosts are compared without regard to ASCII case, the brackets of an IPv6
// literal and one trailing dot; logins are compared exactly.
func (f *File) find(host, login string, typed bool) (entry, bool) {
	host = canonical(host)
	for _, e := range f.entries {
		if fits := e.Default && typed || !e.Default && canonical(e.Machine) == host; !fits {
			continue
		}
		switch {
		case login == "" && (e.Login != "" || e.Password != nil):
			return e, true
		case login != "" && (e.Login == "" || e.Login == login) && e.Password != nil:
			e.Login = login
			return e, true
		}
	}
	return entry{}, false
}

func canonical(host string) string {
	host = strings.TrimSuffix(host, ".")
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		host = host[1 : len(host)-1]
	}
	return strings.Map(func(r rune) rune { // not ToLower: U+212A is no k
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, host)
}

// parse reads a netrc. Words that it does not know are skipped; a line whose
// first word begins with # is a comment; a macro definition ends at an empty
// line. A NUL ends its line, as it does for programs in C.
func parse(r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	defer clear(text) // the words are copies
	switch {
	case err != nil:
		return nil, err
	case len(text) > maxFile:
		return nil, errTooLong
	}
	var p parser
	n := 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		n++
		if err := p.line(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return &File{p.entries}, nil
}

// A parser holds what one line leaves for the next.
type parser struct {
	entries []entry
	keyword string // waits for its word
	macro   bool   // inside a macro definition
}

func (p *parser) line(line []byte) error {
	line, _, _ = bytes.Cut(line, []byte{0})
	if p.macro {
		p.macro = len(bytes.TrimRight(line, "\r")) > 0
		return nil
	}
	line = bytes.TrimLeft(line, whitespace)
	if bytes.HasPrefix(line, []byte("#")) {
		return nil
	}
	for len(line) > 0 && !p.macro {
		word, rest, err := cutWord(line)
		if err != nil {
			return err
		}
		p.word(word)
		line = bytes.TrimLeft(rest, whitespace)
	}
	return nil
}

// word takes one word, as a keyword or as what the last keyword waits for.
func (p *parser) word(word string) {
	keyword := p.keyword
	p.keyword = ""
	switch keyword {
	case "":
		p.startKeyword(word)
	case "machine":
		p.entries = append(p.entries, entry{Machine: word})
	default:
		if len(p.entries) == 0 {
			return // before any machine: belongs to nobody
		}
		switch e := &p.entries[len(p.entries)-1]; keyword {
		case "login":
			e.Login = word
		case "password":
			e.Password = newSecret(word)
		case "account":
			e.Account = newSecret(word)
		}
	}
}

// newSecret returns a pointer, because fmt does not print its target.
func newSecret(word string) *fetch.Secret {
	s := fetch.Secret(word)
	return &s
}

func (p *parser) startKeyword(word string) {
	for _, keyword := range []string{"machine", "login", "password", "account"} {
		if strings.EqualFold(word, keyword) {
			p.keyword = keyword
			return
		}
	}
	switch {
	case strings.EqualFold(word, "default"):
		p.entries = append(p.entries, entry{Default: true})
	case strings.EqualFold(word, "macdef"):
		p.macro = true
	}
}

const whitespace = " \t\r\v\f"

// cutWord cuts the first word off a line that begins with one. Within quotes
// \n, \r and \t stand for controls and any other escaped byte for itself;
// without quotes a backslash is a backslash.
func cutWord(line []byte) (word string, rest []byte, err error) {
	if line[0] != '"' {
		n := bytes.IndexAny(line, whitespace)
		if n < 0 {
			n = len(line)
		}
		return limitWord(string(line[:n]), line[n:])
	}
	var b strings.Builder
	for i := 1; i < len(line); i++ {
		c := line[i]
		if c == '"' {
			return limitWord(b.String(), line[i+1:])
		}
		if c == '\\' && i+1 < len(line) {
			i++
			c = line[i]
			if k := strings.IndexByte("nrt", c); k >= 0 {
				c = "\n\r\t"[k]
			}
		}
		b.WriteByte(c)
	}
	return "", nil, errQuote
}

func limitWord(word string, rest []byte) (string, []byte, error) {
	if len(word) > maxWord {
		return "", nil, errTooLong
	}
	return word, rest, nil
}
