package helpcmd

import (
	"context"

	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/cobra"
)

// A completionCommand prints a completion script for a shell such as bash.
type completionCommand struct {
	*command.Tree
	noDescriptions bool
}

func NewCompletion(r *command.Tree) *cobra.Command {
	return r.Define(&cobra.Command{
		Use:   "completion [flags] bash|fish|powershell|zsh",
		Short: "Print a completion script for a shell",
		Long: `completion prints a script that makes a shell complete the commands and flags of
fetch. The shell reads the script when it starts, or by the command "source".`,
		Example: command.Examples(
			"fetch completion bash > /etc/bash_completion.d/fetch",
			"fetch completion fish > ~/.config/fish/completions/fetch.fish",
			`fetch completion zsh > "${fpath[1]}/_fetch"`,
		),
		ValidArgs: []string{"bash", "fish", "powershell", "zsh"},
	}, &completionCommand{Tree: r})
}

func (c *completionCommand) Register(s *options.Set) {
	s.Own("Flags").BoolVar(&c.noDescriptions, "no-descriptions", false, "print no descriptions of the completions")
	command.RegisterIgnored(s)
}

func (c *completionCommand) Run(_ context.Context, args []string) error {
	if len(args) != 1 {
		cmd, _, _ := c.Main.Find([]string{"completion"})
		return cmd.Help()
	}
	var err error
	switch args[0] {
	case "bash":
		if err = c.Print(bashFunctions); err == nil {
			err = c.Main.GenBashCompletionV2(c.Stdout, !c.noDescriptions)
		}
	case "fish":
		err = c.Main.GenFishCompletion(c.Stdout, !c.noDescriptions)
	case "powershell":
		if c.noDescriptions {
			err = c.Main.GenPowerShellCompletion(c.Stdout)
		} else {
			err = c.Main.GenPowerShellCompletionWithDesc(c.Stdout)
		}
	case "zsh":
		if c.noDescriptions {
			err = c.Main.GenZshCompletionNoDesc(c.Stdout)
		} else {
			err = c.Main.GenZshCompletion(c.Stdout)
		}
	default:
		return fetch.Usage.Errorf("no completion script for %q: the shells are bash, fish, powershell and zsh", args[0])
	}
	return console.LocalError(err)
}
