package objectflags

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/anyurl/fetch/cmd/fetch/internal/arguments"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/glob"
	"github.com/anyurl/fetch/fetch"
)

// Arguments converts the URLs on the command line and those in the files of -K
// to arguments.
func (f *Flags) Arguments(s *console.Streams, typed []string) ([]arguments.Argument, error) {
	all, err := arguments.Parse(s, slices.Concat(typed, f.Input.urls), arguments.Options{
		Configured: f.Input.Configured, InputFile: f.Input.File, DefaultScheme: f.Client.Policy.ProtoDefault, GlobOff: f.Input.GlobOff,
	})
	for _, a := range all {
		if err == nil && a.Pattern != nil {
			err = f.checkGlobOutput(a)
		}
	}
	return all, err
}

// checkGlobOutput returns an error if all URLs of a glob would replace the same
// output file.
func (f *Flags) checkGlobOutput(a arguments.Argument) error {
	if a.Index >= len(f.Body.Output) {
		return nil
	}
	name := f.Body.Output[a.Index]
	_, first := a.Pattern.Expansion(0)
	_, last := a.Pattern.Expansion(a.Pattern.Count() - 1)
	if glob.Substitute(name, first) != glob.Substitute(name, last) {
		return nil
	}
	return f.CheckSharedOutput(a.Index, a.Pattern.Count(), "use #1 in the name")
}

// CheckSharedOutput returns an error if count URLs would replace the same output
// file, which belongs to the argument with the given index.
func (f *Flags) CheckSharedOutput(index int, count int64, advice string) error {
	if count == 1 || index >= len(f.Body.Output) || f.Body.Output[index] == "-" || f.File.NoClobber {
		return nil
	}
	name := f.Body.Output[index]
	if isDevice(name) {
		return nil
	}
	return fetch.Usage.Errorf("-o %q is one file for %d URLs: %s", name, count, advice)
}

// maxNames is the maximum number of URLs of arguments and globs whose file names
// are compared before the start of parallel downloads.
const maxNames = 10_000

// CheckParallelOutput returns an error if two URLs of the command line have the
// same output file and -Z is set, because either body could remain. Names that
// the server sends, and URLs of an input file, are unknown before the start.
func (f *Flags) CheckParallelOutput(args []arguments.Argument) error {
	if !f.Input.Parallel || f.File.NoClobber || f.Body.RemoteHeaderName || !f.WritesFiles() {
		return nil
	}
	owners := map[string]string{}
	for list := (arguments.Reader{Args: args}); len(list.Args) > 0 && len(owners) < maxNames; {
		a := list.NextArgument()
		u, _, err := a.Parse(f.Client.Policy.ProtoDefault)
		if err != nil {
			continue // the job reports the error
		}
		name, err := f.Body.FileName(u, a.Index, a.Values)
		if err != nil || name == "" {
			continue
		}
		name = filepath.Clean(name)
		if owner, taken := owners[name]; taken && !isDevice(name) {
			return fetch.Usage.Errorf("%q is the file of two URLs, %s and %s: use -o for each, or --no-clobber", name, owner, u)
		}
		owners[name] = u.String()
	}
	return nil
}

// isDevice reports whether name is an existing file of another type than a
// regular file, such as a device or a pipe.
func isDevice(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// WritesFiles reports whether a body may be written to a file. A device also
// counts as a file.
func (f *Flags) WritesFiles() bool {
	return f.Body.RemoteName || f.Body.Names.Directories() || f.Body.OutputDir != "" || slices.ContainsFunc(f.Body.Output, func(name string) bool { return name != "-" })
}

// CountURLs returns the number of URLs, or -1 if it is unknown before the start.
func (f *Flags) CountURLs(args []arguments.Argument) int {
	if len(args) != 1 || f.Input.File != "" || args[0].Pattern != nil {
		return -1
	}
	return 1
}
