package negotiate

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jcmturner/gokrb5/v8/config"

	"github.com/anyurl/fetch/fetch"
)

// maxIncludes is the maximum depth of include directives, and the maximum number
// of files.
const maxIncludes = 100

// usedDefaults are the settings of the section libdefaults that change the requests
// of this package. The parser of gokrb5 rejects some values of others, such as
// dns_canonicalize_hostname = fallback.
var usedDefaults = []string{"allow_weak_crypto", "canonicalize", "clockskew", "default_realm", "default_tgs_enctypes", "default_tkt_enctypes",
	"extra_addresses", "forwardable", "kdc_default_options", "noaddresses", "proxiable", "renew_lifetime", "ticket_lifetime"}

// readConfig reads krb5.conf and the files that it includes. An empty name means
// no file. The result cache is the name of the cache of kinit, or "".
func readConfig(name string) (c *config.Config, cache string, err error) {
	s := sections{lines: map[string][]string{}}
	if name != "" {
		if err := s.read(name); err != nil {
			return nil, "", err
		}
	}
	c, err = config.NewFromString(s.text())
	var unsupported config.UnsupportedDirective
	if err != nil && !errors.As(err, &unsupported) {
		return nil, "", fetch.Local.Errorf("%s: %w", name, err)
	}
	for _, line := range firstOfEach(s.lines["libdefaults"], []string{"default_ccache_name"}) {
		_, value, _ := strings.Cut(line, "=")
		cache = expand(strings.TrimSpace(value))
	}
	return c, cache, nil
}

// expand replaces the variables in the name of a cache.
func expand(name string) string {
	uid := strconv.Itoa(os.Getuid())
	return strings.NewReplacer("%{uid}", uid, "%{USERID}", uid, "%{euid}", strconv.Itoa(os.Geteuid()), "%{TEMP}", os.TempDir()).Replace(name)
}

// cacheFile returns the file of a cache of kinit, or "" if the cache has another
// type, such as KEYRING.
func cacheFile(name string) string {
	name = strings.TrimPrefix(name, "FILE:")
	if kind, _, ok := strings.Cut(name, ":"); ok && len(kind) > 1 && strings.Trim(kind, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return ""
	}
	return name
}

// sections contain the lines of krb5.conf and of the files that it includes, by
// the names of their sections.
type sections struct {
	lines map[string][]string
	files int
}

// read adds a file. As in MIT Kerberos, the sections of a file and those of the
// files that it includes are independent.
func (s *sections) read(name string) error {
	if s.files++; s.files > maxIncludes {
		return fetch.Local.Errorf("%s: more than %d files are included", name, maxIncludes)
	}
	text, err := readFile(name, os.Open)
	if err != nil {
		return err
	}
	section := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		directive, value, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case directive == "include":
			err = s.read(strings.TrimSpace(value))
		case directive == "includedir":
			err = s.readFolder(strings.TrimSpace(value))
		case line[0] == '[':
			section, _, _ = strings.Cut(line[1:], "]")
		default:
			s.lines[section] = append(s.lines[section], line)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readFolder adds the files of a folder whose names MIT Kerberos accepts.
func (s *sections) readFolder(name string) error {
	files, err := os.ReadDir(name)
	if err != nil {
		return fetch.Local.With(err)
	}
	for _, f := range files {
		if accepted, _ := regexp.MatchString(`^([A-Za-z0-9_-]+|[^.].*\.conf)$`, f.Name()); !accepted {
			continue
		}
		if err := s.read(filepath.Join(name, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

// text returns the sections that gokrb5 reads, each once, because it would use
// only the last one.
func (s *sections) text() string {
	var b strings.Builder
	for _, name := range []string{"libdefaults", "realms", "domain_realm"} {
		lines := s.lines[name]
		switch name {
		case "libdefaults":
			lines = firstOfEach(lines, usedDefaults)
		case "domain_realm":
			lines = firstOfEach(lines, nil)
		}
		b.WriteString("[" + name + "]\n" + strings.Join(lines, "\n") + "\n")
	}
	return b.String()
}

// firstOfEach returns the first line of each setting in used, which MIT Kerberos
// uses. If used is nil, it returns that of each setting. It removes the settings in
// braces, which apply to a single realm or program.
func firstOfEach(lines, used []string) (kept []string) {
	depth, seen := 0, map[string]bool{}
	for _, line := range lines {
		key, value, found := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		switch opens := found && strings.HasPrefix(strings.TrimSpace(value), "{"); {
		case opens:
			depth++
		case strings.HasPrefix(line, "}"):
			depth = max(0, depth-1)
		case depth == 0 && found && !seen[key] && (used == nil || slices.Contains(used, key)):
			seen[key] = true
			kept = append(kept, line)
		}
	}
	return kept
}
