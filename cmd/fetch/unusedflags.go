package main

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// Flags without effect on commands that print listings or metadata.
const (
	// outputNames are the flags for files and for the format of bodies.
	outputNames = "output remote-name remote-header-name output-dir directory-prefix continue-at include checksum write-out warc-file meta " +
		"create-dirs skip-existing fail-with-body etag-save dump-header mbox maildir part decode"
	// listingNames are the flags that also have no effect on ls and search.
	listingNames = outputNames + " no-clobber remote-time head range segments"
	// infoNames are the flags that have no effect on info.
	infoNames = outputNames + " no-clobber remote-time range segments strict"
	// browseNames are the flags that have no effect on browse.
	browseNames = outputNames + " head range time-cond url input-file globoff parallel parallel-max"
	// planNames are the flags that have no effect on plan. The command accepts
	// them, because "plan" can be inserted into any command line.
	planNames = listingNames + " strict robots no-fail input-file parallel parallel-max retry retry-delay retry-max-time retry-all-errors max-time " +
		"connect-timeout max-filesize limit-rate speed-limit speed-time per-host delay rate no-progress-meter status"
)

// nativeAdvice follows the error for a flag that only --native permits.
const nativeAdvice = ", which prints entries; --native permits the flags for output"

// An unusedFlags contains flags of objectFlags that have no effect on a command.
type unusedFlags []*pflag.Flag

// hide removes the flags with the given names, separated by spaces, from the
// help and the manual page of a command. Later calls of reject check them.
func (f *unusedFlags) hide(s *options.Set, names string) {
	all := strings.Fields(names)
	for _, section := range s.Sections {
		section.Flags.VisitAll(func(flag *pflag.Flag) {
			if !section.Own && slices.Contains(all, flag.Name) {
				flag.Hidden = true
				*f = append(*f, flag)
			}
		})
	}
}

// reject returns an error if an unused flag is set on the command line. The
// advice names an alternative. It may be empty.
func (f unusedFlags) reject(command, advice string) error {
	for _, flag := range f {
		if flag.Changed {
			return fetch.Usage.Errorf("--%s has no effect on %s%s", flag.Name, command, advice)
		}
	}
	return nil
}
