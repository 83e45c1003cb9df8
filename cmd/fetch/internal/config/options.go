package config

import (
	"bufio"
	"io"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// ReadOptions sets flags from an options file, which has the syntax of curl's
// -K files. Each line contains one flag, with or without dashes. The value
// follows after a space, "=" or ":". A value with spaces is enclosed in double
// quotes. A comment after a value starts with a space and #. If a flag is a list, its values are appended to the list. ReadOptions
// returns the values of the option "url". The name is used in error messages.
func (t *Target) ReadOptions(name string, r io.Reader) (urls []string, err error) {
	if t.typed == nil {
		t.typed = map[string]bool{}
		t.Flags().VisitAll(func(f *pflag.Flag) { t.typed[f.Name] = f.Changed })
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSize)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, "\ufeff") // byte order mark
		}
		key, value := cutOption(line)
		switch key {
		case "":
			continue
		case "url":
			urls = append(urls, value)
			continue
		}
		f := t.Known().Lookup(key)
		if f == nil && len(key) == 1 {
			f = t.Known().ShorthandLookup(key)
		}
		if f == nil {
			return nil, fetch.Usage.Errorf("%s line %d: unknown option", name, n)
		}
		if f.Name == "config" {
			return nil, fetch.Usage.Errorf("%s line %d: an options file cannot include another one", name, n)
		}
		if err := t.setOption(f.Name, value); err != nil {
			err = options.Error(err)
			return nil, fetch.FaultOf(err).Errorf("%s line %d: %w", name, n, err)
		}
	}
	return urls, fetch.Local.With(lines.Err())
}

// setOption sets the named flag. It does nothing if the command line has set
// the flag or if the flag belongs to another command.
func (t *Target) setOption(name, value string) error {
	f := t.Flags().Lookup(name)
	if f == nil {
		return nil
	}
	_, list := f.Value.(pflag.SliceValue)
	if !list && t.changed(name, func(name string) bool { return t.typed[name] }) {
		return nil
	}
	if value == "" && f.NoOptDefVal != "" {
		value = f.NoOptDefVal
	}
	return t.Flags().Set(name, value)
}

// cutOption splits a line of an options file into the name of an option and its
// value. The name is "" for an empty line or a comment.
func cutOption(line string) (key, value string) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", ""
	}
	i := strings.IndexAny(line, " \t=:")
	if i < 0 {
		return strings.TrimLeft(line, "-"), ""
	}
	key = strings.TrimLeft(line[:i], "-")
	value = strings.TrimLeft(line[i:], " \t=:")
	if strings.HasPrefix(value, `"`) {
		return key, unquote(value[1:])
	}
	if i := strings.IndexAny(value, " \t"); i >= 0 && strings.HasPrefix(strings.TrimLeft(value[i:], " \t"), "#") {
		value = value[:i] // a comment follows
	}
	return key, value
}

// unquote returns the text before the closing quote in s. It replaces the
// escape sequences of curl, such as \n.
func unquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && s[i] != '"'; i++ {
		c := s[i]
		if c == '\\' && i+1 < len(s) {
			i++
			c = s[i]
			if k := strings.IndexByte("tnrv", c); k >= 0 {
				c = "\t\n\r\v"[k]
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}
