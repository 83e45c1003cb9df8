package ftp

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/line"
	"github.com/anyurl/fetch/uri"
)

// A path is what the path of a URL says: RFC 1738 3.2.2.
type path struct {
	dirs []string // arguments of CWD, decoded
	name string   // argument of the last command, decoded; of a listing often ""
	list bool     // a directory is wanted
	kind string   // argument of TYPE: A or I
}

// parsePath reads the path of u by a method.
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
		// Not as the argument of the listing: servers read options and
		// patterns there.
		p.dirs, p.name = segments, ""
	}
	p = p.by(o.Method).literal()
	return p, safe(append(slices.Clip(p.dirs), p.name)...)
}

// cutType cuts ";type=X" from the end of a path and returns X in lower case,
// or zero.
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
		return text, 0, nil // of a directory: a part of its name
	}
	return "", 0, fetch.BadURL.Errorf("ftp type is none of a, i, d")
}

// safe refuses words that would end a command early, or make it longer than
// every server reads: the end of such a line may become a command.
func safe(words ...string) error {
	for _, word := range words {
		if strings.ContainsAny(word, "\r\n\x00") {
			return fetch.BadURL.With(line.ErrUnsafeByte)
		}
		if len("RETR \r\n")+len(word)+strings.Count(word, "\xff") > line.MaxCommand {
			return fetch.BadURL.Errorf("command of more than %d bytes", line.MaxCommand)
		}
	}
	return nil
}

// by moves the directories of p to where a method has them.
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

// literal has no server take a name within a directory for the home of a user:
// a file or directory that is called ~ would be all of the server once more. At
// the beginning of the path ~user is what people write to get there.
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

// under joins a directory and a name in it, which may be "".
func under(dir, name string) string {
	if name == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// joined is p with all that it says in its name, relative to the directory of
// the login.
func (p path) joined() path { return p.by(NoCWD) }

// argument is the name as the argument of a command that servers hand to a
// program.
func (p path) argument() string {
	if p.list && strings.HasPrefix(p.name, "-") {
		return "./" + p.name
	}
	return p.name
}
