// Package netrc reads credentials from a netrc file, which ftp and curl also
// use:
//
//	machine ftp.example.org login mary password "a secret"
//	default login anonymous password guest
//
// A [File] provides the login functions of a Client:
//
//	logins, warning, err := netrc.Open("")
//	...
//	client := fetch.New(fetch.Options{Login: logins.Login, RedirectLogin: logins.RedirectLogin}, all...)
//
// The default entry applies only to the host of a URL that the user entered.
// For a host in a link or a redirect, only a machine entry applies. After a
// redirect from TLS to a plaintext URL, the Client calls neither function.
//
// The netrc format has no standard. The package parses a file like curl 8. The
// tests list the differences.
package netrc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/anyurl/fetch/fetch"
)

// maxFile limits the size of a netrc file, and maxWord the length of each word
// in it, in bytes.
const (
	maxFile = 64 << 10
	maxWord = 4 << 10
)

// These errors report an invalid netrc file. Their messages do not quote the
// file, because a word of it may be a password.
var (
	errTooLong   = errors.New("netrc is larger than 64 KiB or has a word longer than 4 KiB")
	errQuote     = errors.New("closing quote is missing")
	errIrregular = errors.New("not a regular file")
)

// A File contains the entries of a netrc file. The zero File has no entries. A
// File is safe for concurrent use.
type File struct{ entries []entry }

// An entry contains the credentials for one machine. Account is the argument of
// the FTP command ACCT.
type entry struct {
	Machine  string // host name as in the file
	Default  bool   // default entry, which has no Machine
	Login    string
	Password *fetch.Secret // nil if the entry has no password
	Account  *fetch.Secret // nil if the entry has no account
}

// find returns the first entry that matches a host and a login name. The
// argument login is the user name in the URL, or "". If login is "", the entry
// must have a login name or a password.
//
// If login is not "", the entry must have a password. The login name of the
// entry must be equal to login, or empty. find sets the login name of the
// returned entry to login.
//
// The default entry matches any host, but only if typed is true, which means
// that the user entered the host. Otherwise a server could obtain the default
// credentials with a redirect to another host.
//
// The comparison of hosts ignores ASCII case, brackets around an IPv6 address
// and one trailing dot. The comparison of login names is exact.
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
	return strings.Map(func(r rune) rune { // strings.ToLower would also map the Kelvin sign to k
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, host)
}

// parse parses a netrc file. It skips unknown words and lines that begin with
// #. A macro definition ends at an empty line. As in C programs, the rest of a
// line after a NUL byte is ignored.
func parse(r io.Reader) (*File, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	defer clear(text) // the entries contain copies
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

// A parser contains the entries parsed so far, and the state in which the
// previous line ended.
type parser struct {
	entries []entry
	keyword string // keyword that expects a value, or ""
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

// word processes one word of the file, which is a keyword or the value of the
// previous keyword.
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
			return // a value before the first machine is ignored
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

// newSecret converts word to a Secret and returns a pointer to it. If an entry
// is printed, package fmt prints only the address of the Secret.
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

// cutWord splits a line after its first word, which may be enclosed in double
// quotes. Within quotes, \n, \r and \t are control characters, and a backslash
// before any other byte is removed. Outside quotes, a backslash is literal.
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
