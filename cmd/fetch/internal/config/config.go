// Package config sets flags from configuration files and environment variables.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/anyurl/fetch/fetch"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// maxSize limits the size of config.toml, and the length of a line in an
// options file, in bytes.
const maxSize = 1 << 20

// A Target sets the flags of a command from files and environment variables. It
// does not change flags that the command line has set. If several sources set a
// flag, the first source that is read takes effect.
type Target struct {
	Flags func() *pflag.FlagSet // returns the flags of the command
	Known func() *pflag.FlagSet // returns all flags that a file may contain; flags of other commands are ignored

	// Exclusive lists flags that replace each other, such as --proxy and
	// --socks5. At most one of them is set.
	Exclusive []string

	typed map[string]bool // flags that the command line has set
}

// changed reports whether the named flag, or a flag that excludes it, is
// already set. The function set reports whether a single flag is set.
func (t *Target) changed(name string, set func(flag string) bool) bool {
	return set(name) || slices.Contains(t.Exclusive, name) && slices.ContainsFunc(t.Exclusive, set)
}

// ReadEnvironment sets the named flag to the value of an environment variable.
// It does nothing if the flag is already set.
func (t *Target) ReadEnvironment(variable, name string) error {
	value := os.Getenv(variable)
	if value == "" {
		return nil
	}
	f := t.Flags().Lookup(name)
	if f == nil || f.Changed {
		return nil
	}
	if err := t.Flags().Set(name, value); err != nil {
		return fetch.Usage.Errorf("environment variable %s: %w", variable, err)
	}
	return nil
}

// ReadFile sets flags from config.toml in the user's configuration directory.
// The file may be missing. Its keys are the long names of flags. ReadFile
// rejects unknown keys and the keys in excluded.
func (t *Target) ReadFile(excluded []string) error {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil // neither HOME nor XDG_CONFIG_HOME is set
	}
	name := filepath.Join(dir, "fetch", "config.toml")
	text, err := readLimited(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return fetch.Usage.Errorf("%s: %w", name, err)
	}
	for key, value := range values {
		if slices.Contains(excluded, key) || t.Known().Lookup(key) == nil {
			return fetch.Usage.Errorf("%s: unknown key %s", name, key)
		}
		if err := t.setKey(key, value); err != nil {
			return fetch.Usage.Errorf("%s: %s: %w", name, key, err)
		}
	}
	return nil
}

func readLimited(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	if len(text) > maxSize {
		return nil, fetch.Usage.Errorf("%s: larger than %d bytes", name, maxSize)
	}
	return text, nil
}

// setKey sets the flag that is named by a key of config.toml. It does nothing
// if the flag is already set or belongs to another command.
func (t *Target) setKey(key string, value any) error {
	texts, err := flagValues(value)
	if err != nil {
		return err
	}
	if t.Flags().Lookup(key) == nil || t.changed(key, t.Flags().Changed) {
		return nil
	}
	for _, text := range texts {
		if err := t.Flags().Set(key, text); err != nil {
			return err
		}
	}
	return nil
}

// flagValues converts a TOML value to values of a flag. An array yields one
// value for each item. A table yields a value NAME=VALUE for each of its keys.
func flagValues(value any) (texts []string, err error) {
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
		return nil, fmt.Errorf("a value of type %T is not supported", value)
	}
	return texts, nil
}
