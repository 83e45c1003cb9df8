package foreignflags

import (
	"strings"

	"github.com/spf13/pflag"
)

// A word is an option or an argument of a command line.
type word struct {
	spelled string      // the option as typed, such as -m or --tries; "" for an argument
	flag    *pflag.Flag // the flag of fetch with this spelling, or nil
	option  *option     // the option of the other program, or nil
	value   string      // value of the option, or the argument
	bare    bool        // if true, the option requires a value and has none
}

// A reader splits a command line into words. It recognizes flags of fetch and
// options of the program p. If foreign is true, options with a single dash and
// long options of p belong to p, even if fetch has such flags.
type reader struct {
	flags   *pflag.FlagSet
	p       *program
	foreign bool
	args    []string
	words   []word
}

// read returns the words of the command line.
func (r *reader) read() []word {
	for len(r.args) > 0 {
		arg := r.args[0]
		r.args = r.args[1:]
		switch {
		case arg == "--":
			for _, arg := range r.args {
				r.words = append(r.words, word{value: arg})
			}
			r.args = nil
		case strings.HasPrefix(arg, "--"):
			r.long(arg)
		case len(arg) < 2 || arg[0] != '-':
			r.words = append(r.words, word{value: arg})
		case r.p.clusters == oneWord && r.p.lookup(arg) != nil:
			r.add(arg, nil, r.p.lookup(arg), "", false)
		default:
			r.cluster(arg[1:])
		}
	}
	return r.words
}

// long parses arg, an option with two dashes, and adds it to the words.
func (r *reader) long(arg string) {
	spelled, value, has := strings.Cut(arg, "=")
	f := r.flags.Lookup(spelled[2:])
	o := r.p.lookup(spelled)
	if r.foreign && o != nil {
		f = nil
	}
	r.add(spelled, f, o, value, has)
}

// cluster parses options with one dash, such as -sSo FILE, and adds them to the
// words.
func (r *reader) cluster(letters string) {
	for letters != "" {
		n := 1
		if r.foreign && r.p.clusters == wgetStyle && letters[0] == 'n' && len(letters) > 1 {
			n = 2
		}
		spelled := "-" + letters[:n]
		var f *pflag.Flag
		o := r.p.lookup(spelled)
		if !r.foreign || r.p.clusters == oneWord || r.p.clusters == withFlags && o == nil {
			f = r.flags.ShorthandLookup(letters[:1])
		}
		letters = letters[n:]
		if !takesValue(f, o) {
			r.add(spelled, f, o, "", false)
			if n == 2 && letters != "" {
				letters = "n" + letters // wget's -nab is -na -nb
			}
			continue
		}
		value, has := strings.TrimPrefix(letters, "="), letters != ""
		r.add(spelled, f, o, value, has)
		return
	}
}

// add appends an option to the words. The value of an option may be the next
// argument.
func (r *reader) add(spelled string, f *pflag.Flag, o *option, value string, has bool) {
	w := word{spelled: spelled, flag: f, option: o, value: value}
	if !has && takesValue(f, o) {
		if len(r.args) == 0 {
			w.bare = true
		} else {
			w.value, r.args = r.args[0], r.args[1:]
		}
	}
	r.words = append(r.words, w)
}

// takesValue reports whether an option requires a value. A flag of fetch takes
// precedence over an option of another program.
func takesValue(f *pflag.Flag, o *option) bool {
	if f != nil {
		return f.NoOptDefVal == ""
	}
	return o != nil && o.value
}
