package command

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// registerCompletions registers shell completions for the values of all flags
// of cmd. The name of the value in the help text selects the completion:
// schemes, files or directories. Other values, such as numbers, have no
// completion.
func registerCompletions(cmd *cobra.Command, set *options.Set) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.NoOptDefVal == "true" {
			return // a switch
		}
		if complete := flagCompletion(f); complete != nil {
			// The only possible error is that f.Name is already registered,
			// which cannot happen.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
		}
	})
	set.OmitValueNames()
}

// flagCompletion returns the function that completes the value of f. A nil
// result means that the shell completes file names.
func flagCompletion(f *pflag.Flag) cobra.CompletionFunc {
	if values := options.Values(f); len(values) > 0 {
		return completeList(values)
	}
	switch value, _ := options.Describe(f); {
	case value == "SCHEME", value == "SCHEMES":
		return completeList(console.SchemeNames())
	case value == "DIR":
		return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
	case strings.Contains(value, "FILE"), value == "CDXJ", value == "STORE":
		return nil
	case value == "SCHEME=URL":
		return completePrefix("=")
	case value == "SCHEME:PORT":
		return completePrefix(":")
	}
	return cobra.NoFileCompletions
}

// completeList returns a function that completes a comma-separated list of
// values.
func completeList(values []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (all []string, _ cobra.ShellCompDirective) {
		before := typed[:strings.LastIndex(typed, ",")+1]
		used := strings.Split(before, ",")
		for _, v := range values {
			if !slices.Contains(used, v) {
				all = append(all, before+v)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp
	}
}

// completePrefix returns a function that completes a value that starts with the
// name of a scheme and a separator.
func completePrefix(separator string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) (all []string, _ cobra.ShellCompDirective) {
		for _, name := range console.SchemeNames() {
			all = append(all, name+separator)
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// opaqueSchemes lists the schemes whose URLs have no slashes after the colon.
var opaqueSchemes = []string{"cid", "data", "mailserver", "mailto", "mid", "news", "urn"}

// completeScheme completes the scheme of a URL. If no scheme matches, the shell
// completes file names.
func completeScheme(typed string) (all []string, _ cobra.ShellCompDirective) {
	for _, name := range console.SchemeNames() {
		if !strings.HasPrefix(name, typed) {
			continue
		}
		if slices.Contains(opaqueSchemes, name) {
			all = append(all, name+":")
		} else {
			all = append(all, name+"://")
		}
	}
	if len(all) == 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return all, cobra.ShellCompDirectiveNoSpace
}
