// Package options arranges the flags of a command in sections, for its help,
// its manual page and the configuration files.
package options

import (
	"errors"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/spf13/pflag"
)

// A Set holds the flags of one command in sections.
type Set struct{ Sections []*Section }

// A Section is a group of flags that serve one task.
type Section struct {
	Title string
	Flags *pflag.FlagSet

	// If true, the flags belong to one command. Configuration files do not set
	// them, because another command may have a flag of the same name.
	Own bool
}

// Section returns the flags of the section with the given title. It adds the
// section if necessary.
func (s *Set) Section(title string) *pflag.FlagSet { return s.section(title, false) }

// Own is like Section, but the flags of the section belong to one command.
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

// ValueName is the annotation of a flag with the name of its value, or "".
const ValueName = "value-name"

// nameValue moves the name of the value of f from its description to an
// annotation. A description may start with the name: "`NAME=VALUE`: send a
// cookie".
func nameValue(f *pflag.Flag) {
	if _, done := f.Annotations[ValueName]; done {
		return
	}
	name, usage := pflag.UnquoteUsage(f)
	f.Usage = strings.TrimPrefix(usage, name+": ")
	if f.Annotations == nil {
		f.Annotations = map[string][]string{}
	}
	f.Annotations[ValueName] = []string{name}
}

// AddTo adds all flags of the set to flags. If two sections have a flag of the
// same name, AddTo uses the flag of the section that is Own.
func (s *Set) AddTo(flags *pflag.FlagSet) {
	for _, own := range []bool{true, false} {
		for _, section := range s.Sections {
			if section.Own == own {
				section.Flags.VisitAll(nameValue)
				flags.AddFlagSet(section.Flags)
			}
		}
	}
}

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

// Hide keeps all flags out of the help and the manual page.
func (s *Set) Hide() {
	for _, section := range s.Sections {
		section.Flags.VisitAll(func(f *pflag.Flag) { f.Hidden = true })
	}
}

// Error returns an error of the pflag package as an error of class Usage. It
// removes values that may be secret.
func Error(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && errors.Is(invalid.Unwrap(), fetch.Unsupported) {
		return invalid.Unwrap() // does not contain the value, which may be secret
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		// The text after the first letter may be a password.
		return fetch.Usage.Errorf("unknown flag: -%s", unknown.GetSpecifiedName()[:1])
	}
	return fetch.Usage.With(err)
}
