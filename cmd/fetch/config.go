package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// notConfigured are flags of one call, which no file sets for every call.
var notConfigured = []string{"help", "version", "config", "no-config", "output", "input-file", "continue-at", "range", "checksum", "write-out"}

// maxConfig is more than anybody configures.
const maxConfig = 1 << 20

// unconfigured are commands that do nothing a flag could change: whoever has
// broken his configuration can read how to mend it.
var unconfigured = []string{"help", "man", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// configurable reports whether a configuration matters to cmd.
func configurable(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return !slices.Contains(unconfigured, cmd.Name())
}

// configure sets the flags that the command line leaves open: from the files
// of -K first, then from the environment, then from config.toml. It returns
// the URLs of -K.
func (a *app) configure(flags *pflag.FlagSet) (urls []string, err error) {
	typed := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { typed[f.Name] = f.Changed })
	for _, name := range a.flags.configs {
		more, err := a.readOptions(flags, name, typed)
		if err != nil {
			return nil, err
		}
		urls = append(urls, more...)
	}
	for variable, flag := range map[string]string{"NNTPSERVER": "news-server"} {
		if value := os.Getenv(variable); value != "" {
			if err := setFlag(flags, flag, value, variable); err != nil {
				return nil, err
			}
		}
	}
	if a.flags.noConfig {
		return urls, nil
	}
	return urls, readConfig(flags)
}

// readConfig reads config.toml: its keys are the long names of flags. A key
// that is none is an error, for a misspelt limit protects nobody.
func readConfig(flags *pflag.FlagSet) error {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil // neither HOME nor XDG_CONFIG_HOME: nobody's configuration
	}
	name := filepath.Join(dir, "fetch", "config.toml")
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fetch.Local.With(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return fetch.Local.With(err)
	}
	if len(text) > maxConfig {
		return fetch.Usage.Errorf("%s: larger than %d bytes", name, maxConfig)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return fetch.Usage.Errorf("%s: %w", name, err)
	}
	for key, value := range values {
		if slices.Contains(notConfigured, key) || flags.Lookup(key) == nil {
			return fetch.Usage.Errorf("%s: unknown key %s", name, key)
		}
		texts, err := configTexts(value)
		if err != nil {
			return fetch.Usage.Errorf("%s: %s: %w", name, key, err)
		}
		if settled(key, flags.Changed) {
			continue
		}
		for _, text := range texts {
			if err := flags.Set(key, text); err != nil {
				return fetch.Usage.Errorf("%s: %s: %w", name, key, err)
			}
		}
	}
	return nil
}

// settled reports whether key was set already, or another flag that says the
// same thing.
func settled(key string, set func(flag string) bool) bool {
	return set(key) || slices.Contains(proxyNames, key) && slices.ContainsFunc(proxyNames, set)
}

// configTexts is a value as flags read it: several for a list, NAME=VALUE for
// each line of a table.
func configTexts(value any) (texts []string, err error) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			texts = append(texts, fmt.Sprint(item))
		}
	case map[string]any:
		for name, item := range v {
			texts = append(texts, name+"="+fmt.Sprint(item))
		}
		slices.Sort(texts)
	case string, bool, int64, float64:
		texts = []string{fmt.Sprint(v)}
	default:
		return nil, fmt.Errorf("a %T is no value here", value)
	}
	return texts, nil
}

// setFlag sets a flag that the command line left open.
func setFlag(flags *pflag.FlagSet, name, value, from string) error {
	f := flags.Lookup(name)
	if f == nil || f.Changed {
		return nil
	}
	if err := flags.Set(name, value); err != nil {
		return fetch.Usage.Errorf("%s: %w", from, err)
	}
	return nil
}

// readOptions reads a file of options as curl's -K has it: a flag a line, with
// or without its dashes, the value behind a space, "=" or ":", in double
// quotes where it has spaces; "url" names a URL. What was typed stands; a list
// gets longer.
func (a *app) readOptions(flags *pflag.FlagSet, name string, typed map[string]bool) (urls []string, err error) {
	r := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, fetch.Local.With(err)
		}
		defer f.Close()
		r = f
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxConfig)
	for n := 1; lines.Scan(); n++ {
		key, value := cutOption(unmarked(lines.Text(), n))
		if key == "" {
			continue
		}
		if key == "url" {
			urls = append(urls, value)
			continue
		}
		f := flags.Lookup(key)
		if f == nil && len(key) == 1 {
			f = flags.ShorthandLookup(key)
		}
		if f == nil {
			return nil, fetch.Usage.Errorf("%s line %d: unknown option", name, n)
		}
		if f.Name == "config" {
			return nil, fetch.Usage.Errorf("%s line %d: no file of options within another", name, n)
		}
		if _, list := f.Value.(pflag.SliceValue); !list && settled(f.Name, func(name string) bool { return typed[name] }) {
			continue
		}
		if value == "" && f.NoOptDefVal != "" {
			value = f.NoOptDefVal
		}
		if err := flags.Set(f.Name, value); err != nil {
			err = flagError(err)
			return nil, fetch.FaultOf(err).Errorf("%s line %d: %w", name, n, err)
		}
	}
	return urls, fetch.Local.With(lines.Err())
}

// cutOption takes one line apart.
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
	return key, value
}

// unquote reads up to the closing quote, with curl's escapes.
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
