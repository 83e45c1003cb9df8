package objectflags

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/verification"
	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// Flags without effect on commands that print listings or metadata.
const (
	// outputNames are the flags for files and for the format of bodies.
	outputNames = "output out-null remote-name remote-header-name output-dir directory-prefix force-directories no-host-directories cut-dirs verbatim-names no-directories timestamping xattr remove-on-error continue-at include show-headers write-out " + verification.Names + " " + sourceNames + " warc-file meta render " +
		"create-dirs skip-existing fail-with-body etag-save dump-header mbox maildir part decode"
	// ListingNames are the flags that also have no effect on ls and search.
	ListingNames = outputNames + " no-clobber remote-time head range segments"
	// InfoNames are the flags that have no effect on info.
	InfoNames = outputNames + " no-clobber remote-time range segments strict"
	// BrowseNames are the flags that have no effect on browse.
	BrowseNames = outputNames + " head range time-cond url input-file globoff parallel parallel-max"
	// PlanNames are the flags that have no effect on plan. The command accepts
	// them, because "plan" can be inserted into any command line.
	PlanNames = ListingNames + " strict robots no-fail input-file parallel parallel-max retry retry-delay retry-max-time retry-all-errors max-time " +
		"connect-timeout max-filesize limit-rate speed-limit speed-time per-host delay rate no-progress-meter status"
)

// NativeAdvice follows the error for a flag that only --native permits.
const NativeAdvice = ", which prints entries; --native permits the flags for output"

// An Unused contains flags of Flags that have no effect on a command.
type Unused []*pflag.Flag

// Hide removes the flags with the given names, separated by spaces, from the
// help and the manual page of a command. Later calls of reject check them.
func (f *Unused) Hide(s *options.Set, names string) {
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

// Reject returns an error if an unused flag is set on the command line. The
// advice names an alternative. It may be empty.
func (f Unused) Reject(command, advice string) error {
	for _, flag := range f {
		if flag.Changed {
			return fetch.Usage.Errorf("--%s has no effect on %s%s", flag.Name, command, advice)
		}
	}
	return nil
}
