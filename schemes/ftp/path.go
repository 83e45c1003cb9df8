package ftp

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/uri"
)

// A path holds the directories and the file name of an ftp URL (RFC 1738
// 3.2.2).
type path struct {
	dirs []string // decoded arguments of CWD
	name string   // decoded argument of the last command; often "" for a listing
	list bool     // the URL requests a listing
	kind string   // argument of TYPE: A (text) or I (image)
}

// parsePath parses the path of an ftp URL.
func (o *Options) parsePath(u uri.URI) (path, error) {
	if u.Host() == "" {
		return path{}, fetch.BadURL.Errorf("no host")
	}
	text := strings.TrimPrefix(u.Path(), "/")
	if query, ok := u.Query(); ok {
		text += "?" + query // RFC 1738 5: a "?" is part of the name
	}
	text, code, err := cutType(text)
	if err != nil {
		return path{}, err
	}
	var segments []string
	for segment := range strings.SplitSeq(text, "/") {
		s, err := uri.Unescape(segment)
		if err != nil {
			return path{}, fetch.BadURL.With(err)
		}
		segments = append(segments, s)
	}
	last := len(segments) - 1
	p := path{dirs: segments[:last], name: segments[last], kind: "I"}
	p.list = code == 'd' || p.name == ""
	if p.list || code == 'a' || code == 0 && o.ASCII {
		p.kind = "A"
	}
	if p.list && p.name != "" {
		// LIST gets no argument, because servers interpret options and patterns
		// in the argument.
		p.dirs, p.name = segments, ""
	}
	p = p.by(o.Method).literal()
	return p, safe(append(slices.Clip(p.dirs), p.name)...)
}

// cutType removes ";type=X" from the end of a path. It returns X in lower case,
// or zero if the path has no type.
func cutType(text string) (rest string, code byte, err error) {
	i := strings.LastIndexByte(text, ';')
	if i < 0 || len(text) < i+6 || !strings.EqualFold(text[i:i+6], ";type=") {
		return text, 0, nil
	}
	switch value := text[i+6:]; value {
	case "a", "A", "i", "I", "d", "D":
		return text[:i], value[0] | 0x20, nil
	}
	if strings.Contains(text[i:], "/") {
		return text, 0, nil // the semicolon is part of a directory name
	}
	return "", 0, fetch.BadURL.Errorf("invalid ftp type: want a, i or d")
}

// safe returns an error if a word contains a line break or is too long for a
// command. A server may execute the end of a long line as another command.
func safe(words ...string) error {
	for _, word := range words {
		if strings.ContainsAny(word, "\r\n\x00") {
			return fetch.BadURL.With(line.ErrUnsafeByte)
		}
		if len("RETR \r\n")+len(word)+strings.Count(word, "\xff") > line.MaxCommand {
			return fetch.BadURL.Errorf("the command is longer than %d bytes", line.MaxCommand)
		}
	}
	return nil
}

// by returns a copy of p with its directories arranged for the Method m. For
// example, SingleCWD joins all directories into one.
func (p path) by(m Method) path {
	if m == MultiCWD || len(p.dirs) == 0 {
		return p
	}
	dir := strings.Join(p.dirs, "/")
	if dir == "" {
		dir = "/"
	}
	if m == SingleCWD {
		p.dirs = []string{dir}
		return p
	}
	return path{name: under(dir, p.name), list: p.list, kind: p.kind}
}

// literal adds "./" to segments that begin with "~", because servers may
// replace "~" by a home directory. It does not change the first segment of the
// path, so that ~user still names a home directory there.
func (p path) literal() path {
	p.dirs = slices.Clone(p.dirs)
	for i, dir := range p.dirs {
		if i > 0 && strings.HasPrefix(dir, "~") {
			p.dirs[i] = "./" + dir
		}
	}
	if len(p.dirs) > 0 && strings.HasPrefix(p.name, "~") {
		p.name = "./" + p.name
	}
	return p
}

// under joins a directory and a file name with a slash. The file name may be
// "".
func under(dir, name string) string {
	if name == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// joined returns p without separate directories. The name of the result is the
// complete path relative to the login directory.
func (p path) joined() path { return p.by(NoCWD) }

// argument returns the file name as a command argument. It adds "./" before a
// leading "-", because some servers pass the name to ls, which would parse "-x"
// as an option.
func (p path) argument() string {
	if p.list && strings.HasPrefix(p.name, "-") {
		return "./" + p.name
	}
	return p.name
}
