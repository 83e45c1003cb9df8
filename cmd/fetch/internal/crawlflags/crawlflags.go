// Package crawlflags has the flags and the advice that fetch mirror and the
// commands for archives and crawls share.
package crawlflags

import (
	"os"
	"regexp"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/mirror"
	"github.com/anyurl/fetch/mirror/postgres"
	"github.com/spf13/pflag"
)

// RegisterFrontier registers the flag --frontier. Its default is the environment
// variable FETCH_FRONTIER, which other users cannot see, unlike a command line.
func RegisterFrontier(s *options.Set, dsn *string) {
	s.Own("Shared crawls").StringVar(dsn, "frontier", "", "share the frontier in PostgreSQL at `URL` (or set FETCH_FRONTIER)")
}

// RegisterStore registers the flag --store.
func RegisterStore(s *options.Set, url *string, usage string) {
	s.Own("Shared crawls").StringVar(url, "store", "", usage)
}

// FrontierURL returns the URL of the shared frontier: the value of --frontier,
// or else of FETCH_FRONTIER. It returns "" if neither is set.
func FrontierURL(flag string) string {
	if flag != "" {
		return flag
	}
	return os.Getenv("FETCH_FRONTIER")
}

// Locate returns the crawl of an archive, or of a shared frontier. A directory
// takes precedence over FETCH_FRONTIER.
func Locate(args []string, flag string) (l mirror.Location, err error) {
	dsn := FrontierURL(flag)
	switch {
	case len(args) > 1, len(args) == 1 && flag != "":
		return l, fetch.Usage.Errorf("the command requires one directory of an archive, or --frontier")
	case len(args) == 1:
		return mirror.Location{Dir: args[0]}, nil
	case dsn == "":
		return l, fetch.Usage.Errorf("the command requires the directory of an archive, or --frontier")
	}
	return mirror.Location{Frontier: postgres.New(dsn)}, nil
}

// TotalLimits are the flags that limit the number and size of the retrieved
// objects, and the time.
type TotalLimits struct {
	MaxFiles int64
	MaxBytes options.Bytes
	RunTime  options.Seconds
}

func (f *TotalLimits) Register(p *pflag.FlagSet) {
	p.Int64Var(&f.MaxFiles, "max-files", 0, "stop after `N` objects, including unchanged and failed ones")
	p.Var(&f.MaxBytes, "max-bytes", "stop after `BYTES` of new and unchanged objects (suffixes: k, M, G)")
	p.Var(&f.RunTime, "run-time", "stop the run after `SECONDS`")
}

func Patterns(texts []string) (all []*regexp.Regexp, err error) {
	for _, t := range texts {
		r, err := regexp.Compile(t)
		if err != nil {
			return nil, fetch.Usage.With(err)
		}
		all = append(all, r)
	}
	return all, nil
}
