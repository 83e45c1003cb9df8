package command

import (
	"io"
	"os"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/config"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ConfigFlags are the flags that select the configuration files.
type ConfigFlags struct {
	off   bool
	files []string
	URLs  []string // URLs in these files
}

func (f *ConfigFlags) Register(s *options.Set) {
	p := s.Section("Configuration")
	p.BoolVarP(&f.off, "no-config", "q", false, "do not read config.toml")
	p.StringArrayVarP(&f.files, "config", "K", nil, "read options from `FILE`, one per line (- for standard input)")
}

// excludedKeys are the flags that config.toml cannot set, because they are
// meaningful only for a single command line.
var excludedKeys = []string{"config", "no-config", "output", "input-file", "continue-at", "range", "checksum", "checksum-file", "signature", "keyring",
	"write-out"}

// unconfiguredCommands lists the commands that read no configuration files, so
// that the commands work even if a file is malformed.
var unconfiguredCommands = []string{"help", "man", "completion", cobra.ShellCompRequestCmd,
	cobra.ShellCompNoDescRequestCmd}

// proxySelectors lists the flags that select the proxy.
var proxySelectors = []string{"proxy", "socks4", "socks4a", "socks5", "socks5-hostname"}

// usesConfig reports whether the configuration files apply to cmd.
func usesConfig(cmd *cobra.Command) bool {
	for cmd.HasParent() && cmd.Parent().HasParent() {
		cmd = cmd.Parent()
	}
	return !slices.Contains(unconfiguredCommands, cmd.Name())
}

// apply sets flags from the files of -K, from environment variables and from
// config.toml, in this order of precedence. It does not change flags that the
// command line sets. It calls the functions flags and known only if there is a
// setting.
func (f *ConfigFlags) apply(stdin io.Reader, flags, known func() *pflag.FlagSet) error {
	t := &config.Target{Flags: flags, Known: known, Exclusive: proxySelectors}
	for _, name := range f.files {
		urls, err := readOptions(t, stdin, name)
		if err != nil {
			return err
		}
		f.URLs = append(f.URLs, urls...)
	}
	if err := t.ReadEnvironment("NNTPSERVER", "news-server"); err != nil {
		return err
	}
	if f.off {
		return nil
	}
	return t.ReadFile(excludedKeys)
}

func readOptions(t *config.Target, stdin io.Reader, name string) ([]string, error) {
	if name == "-" {
		return t.ReadOptions(name, stdin)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fetch.Local.With(err)
	}
	defer file.Close()
	return t.ReadOptions(name, file)
}
