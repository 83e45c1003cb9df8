package mirror

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"time"
)

// maxSeconds is the maximum number of seconds of a stored duration.
const maxSeconds = 1e9

// check returns an error if the settings contain no seeds or invalid values.
func (s *settings) check() error {
	l := &s.Limits
	delay, age, size := 0.0, 0.0, int64(0)
	if s.Delay != nil {
		delay = *s.Delay
	}
	if s.WARC != nil {
		size, age = s.WARC.Size, s.WARC.Seconds
	}
	valid := map[string]bool{
		"hosts": s.Hosts >= 1 && s.Hosts <= 10_000, "tries": s.Tries >= 1 && s.Tries <= 1000,
		"per_host":      s.PerHost >= 0 && s.PerHost <= 1000 && l.PerHost >= 0,
		"delay_seconds": delay >= 0 && delay <= maxSeconds, "seconds": l.Seconds >= 0 && l.Seconds <= maxSeconds,
		"max_delete": s.MaxDelete > 0 && s.MaxDelete <= 1, "size": size >= 0, "age": age >= 0 && age <= maxSeconds, "files": l.Files >= 0, "bytes": l.Bytes >= 0,
		"file_size": l.FileSize >= 0, "min_free": l.MinFree >= 0,
	}
	for _, name := range slices.Sorted(maps.Keys(valid)) {
		if !valid[name] {
			return fmt.Errorf("%s is out of range", name)
		}
	}
	switch {
	case s.Omitted > 0:
		return fmt.Errorf("the list of %d seeds was too long to be stored", s.Omitted)
	case len(s.Seeds) == 0:
		return errors.New("there are no seeds")
	case !s.Tree && s.WARC == nil:
		return errors.New("neither a tree nor WARC files are selected")
	case !slices.Contains(mailNames[:], s.Mail):
		return errors.New("unknown format of mailboxes")
	}
	return nil
}

// scope converts the settings to a Scope.
func (s *scopeSettings) scope() (o Scope, err error) {
	o = Scope{
		Depth: s.Depth, Requisites: s.Requisites, Accept: s.Accept, Reject: s.Reject,
		KeepSessionIDs: s.KeepSessionIDs, IgnoreParameters: s.IgnoreParameters,
	}
	var ok bool
	if o.Reach, ok = ParseReach(s.Reach); !ok {
		return o, errors.New("unknown value of reach")
	}
	free := maxPatterns
	if o.Include, err = patternsOf(s.Include, &free); err == nil {
		o.Exclude, err = patternsOf(s.Exclude, &free)
	}
	return o, err
}

// maxPatterns is the maximum size of all stored patterns in instructions. Each
// instruction needs about 40 bytes of memory.
const maxPatterns = 4 << 20

// patternBase is the memory of a short compiled pattern in instructions.
const patternBase = 16

// patternsOf compiles stored patterns and subtracts their sizes from free. The
// patterns can come from an untrusted source. A pattern of ten bytes can need a
// thousand instructions.
func patternsOf(texts []string, free *int) (all []*regexp.Regexp, _ error) {
	for _, text := range texts {
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			return nil, err
		}
		if *free -= patternBase + patternSize(parsed); *free < 0 {
			return nil, errors.New("the patterns need too much memory")
		}
		p, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// patternSize estimates the number of instructions of a compiled pattern, which
// contains the operand of a repetition several times.
func patternSize(p *syntax.Regexp) int {
	n := 1 + len(p.Rune)
	for _, operand := range p.Sub {
		n += patternSize(operand)
	}
	if p.Op == syntax.OpRepeat {
		n *= max(p.Min, p.Max, 1)
	}
	return n
}

func (s *limitSettings) limits() Limits {
	l := s.Limits
	l.Time = time.Duration(s.Seconds * float64(time.Second))
	return l
}
