// Package objectcmd implements the commands that retrieve or describe objects:
// fetch URL, ls, info, plan, search and browse.
package objectcmd

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/download"
	"github.com/anyurl/fetch/cmd/fetch/internal/foreignflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
)

// ExitStatus describes the exit codes.
const ExitStatus = `0	ok
1	internal error
2	wrong usage or malformed URL
3	error of a local file or disk
4	network error, timeout or temporary reply such as 503 (try again later)
5	TLS error
6	authentication failed
7	protocol error
8	the server reports an error
9	blocked by the policy
10	limit exceeded, redirect loop or decompression bomb
11	truncated download or wrong digest (try again)
12	unsupported scheme or feature
13	several URLs failed in different ways, or some URLs of a list are malformed
129, 130, 143	interrupted by SIGHUP, SIGINT or SIGTERM
`

const environment = `http_proxy, HTTPS_PROXY, ALL_PROXY	the proxy for the scheme, unless --proxy is set
NO_PROXY	hosts that are reached without a proxy
SCHEME_proxy	the HTTP gateway for SCHEME, such as wais_proxy
NNTPSERVER	the server for news URLs without a host
FETCH_PASSWORD	the password for --user, and for servers that request one
XDG_CONFIG_HOME	the directory of configuration files (default ~/.config)
`

const files = `$XDG_CONFIG_HOME/fetch/config.toml	default values of flags, by their long names
~/.netrc	user names and passwords, read with --netrc
.FILE.part	the partial download of FILE, which -C - resumes
`

// A getCommand implements the main command, which retrieves objects.
type getCommand struct {
	*console.Streams
	config  *command.ConfigFlags
	flags   objectflags.Flags
	version bool

	similar func(word string) []string // returns the commands whose names are similar to a word
}

func New(r *command.Tree) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "fetch [flags] URL...",
		Short: "Retrieve the object that a URL names",
		Long: `fetch retrieves the object that each URL names and writes it to standard output,
or to a file with -o, -O or --output-dir. A file appears only when it is
complete. Transient errors are retried.

A URL on the command line may have globs, such as {a,b} and [1-9]. In ftp, sftp
and file URLs, * selects the files of a directory. A path of a local file is a file
URL. Invalid characters behind the host are percent-encoded.

fetch help SCHEME describes the URLs of a scheme. fetch help TOPIC prints a page
of the documentation. Flags can also be set in
$XDG_CONFIG_HOME/fetch/config.toml (default ~/.config) by their long names:
  retry = 5
  user-agent = "example/1.0"`,
		Example: command.Examples(
			"fetch https://example.org/",
			"fetch -O https://example.org/file.tar.gz",
			"fetch -C - -O ftp://ftp.example.org/pub/file.iso    # resume",
			"fetch -Z --input-file list.txt --create-dirs --output-dir files",
			"fetch -O 'https://example.org/log-[001-100].txt'",
			"fetch -O 'ftp://ftp.example.org/pub/*.gz'",
		),
		Annotations: map[string]string{
			manual.ExitStatus:  ExitStatus,
			manual.Environment: environment,
			manual.Files:       files,
		},
		Args: cobra.ArbitraryArgs,

		SuggestionsMinimumDistance: 2,
	}
	return r.Define(cmd, &getCommand{Streams: r.Streams, config: &r.Config, similar: cmd.SuggestionsFor})
}

func (c *getCommand) Register(s *options.Set) {
	c.flags.Register(s)
	s.Own(command.HelpTitle).BoolVarP(&c.version, "version", "V", false, "print the version, the schemes and the features")
}

func (c *getCommand) Run(ctx context.Context, args []string) error {
	if c.version {
		return console.WriteLine(c.Stdout, console.VersionText(console.CurrentVersion()))
	}
	if err := arguments.CheckCommand(args, c.similar, c.flags.Client.Policy.ProtoDefault); err != nil {
		return err
	}
	for _, name := range c.flags.Body.Output {
		if foreignflags.LogName(name, args) {
			c.Note("-o %s is the file for the body, as in curl; messages are written to standard error", name)
		}
	}
	c.flags.Input.Configured = c.config.URLs
	return download.All(ctx, c.Streams, &c.flags, args, false)
}
