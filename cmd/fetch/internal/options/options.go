// Package options groups the flags of a command in titled sections. The help,
// the manual page and the configuration files use the sections.
package options

import (
	"errors"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// A Set contains the flags of one command, grouped in sections.
type Set struct {
	Sections []*Section
	freed    string // letters that the command itself uses
}

// A Section is a group of related flags, such as all flags for TLS.
type Section struct {
	Title string
	Flags *pflag.FlagSet

	// If Own is true, the flags belong to a single command. Configuration files
	// cannot set the flags, because another command may have a flag with the
	// same name.
	Own bool
}

// Section returns the flags of the section with the given title. It creates the
// section if necessary.
func (s *Set) Section(title string) *pflag.FlagSet { return s.section(title, false) }

// Own is like Section, but the flags of the section belong to a single command.
func (s *Set) Own(title string) *pflag.FlagSet { return s.section(title, true) }

func (s *Set) section(title string, own bool) *pflag.FlagSet {
	for _, section := range s.Sections {
		if section.Title == title && section.Own == own {
			return section.Flags
		}
	}
	flags := pflag.NewFlagSet(title, pflag.ContinueOnError)
	flags.SortFlags = false
	s.Sections = append(s.Sections, &Section{Title: title, Flags: flags, Own: own})
	return flags
}

// Describe returns the name of a flag's argument, such as FILE, and the
// description of the flag. The name is "" if the flag has no argument. The text
// of a flag may start with the name, as in "`NAME=VALUE`: send a cookie".
func Describe(f *pflag.Flag) (value, usage string) {
	value, usage = pflag.UnquoteUsage(f)
	return value, strings.TrimPrefix(usage, value+": ")
}

// OmitValueNames removes the names of arguments from the usage texts of all
// flags, because shell completion prints these texts unchanged.
func (s *Set) OmitValueNames() {
	for _, section := range s.Sections {
		section.Flags.VisitAll(func(f *pflag.Flag) { _, f.Usage = Describe(f) })
	}
}

// AddTo adds all flags of the set to flags. If two flags have the same name,
// AddTo uses the flag of the section with Own set.
func (s *Set) AddTo(flags *pflag.FlagSet) {
	for _, own := range []bool{true, false} {
		for _, section := range s.Sections {
			if section.Own == own {
				section.free(s.freed)
				flags.AddFlagSet(section.Flags)
			}
		}
	}
}

// free removes the given one-letter names from the flags of a shared section.
func (s *Section) free(letters string) {
	s.Flags.VisitAll(func(f *pflag.Flag) {
		if !s.Own && f.Shorthand != "" && strings.Contains(letters, f.Shorthand) {
			f.Shorthand = ""
		}
	})
}

// FreeShorthands removes one-letter names from the shared flags, so that flags of
// the command itself can have them. It is called before AddTo.
func (s *Set) FreeShorthands(letters string) { s.freed += letters }

// Shared returns the flags that configuration files may set.
func (s *Set) Shared() *pflag.FlagSet {
	shared := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, section := range s.Sections {
		if !section.Own {
			shared.AddFlagSet(section.Flags)
		}
	}
	return shared
}

// Hide omits all flags of the set from the help and the manual page.
func (s *Set) Hide() {
	for _, section := range s.Sections {
		section.Flags.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	}
}

// A Rejection is the error for a flag that exists, but that fetch does not
// support on purpose, such as a flag of curl for uploads.
type Rejection struct{ error }

// Unwrap returns the reason.
func (r Rejection) Unwrap() error { return r.error }

// Error converts an error of the pflag package to a usage error. It removes
// flag values, which may be secret, from the error message.
func Error(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && errors.Is(invalid.Unwrap(), fetch.Unsupported) {
		return Rejection{invalid.Unwrap()} // does not contain the value, which may be secret
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		// The error message contains only the first letter, because the text
		// after it may be a password.
		return fetch.Usage.Errorf("unknown flag: -%s", unknown.GetSpecifiedName()[:1])
	}
	return fetch.Usage.With(err)
}
