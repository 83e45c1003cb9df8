// Package foreignflags recognizes options of wget, aria2, lftp and lynx on the
// command line of fetch, and translates them to flags of fetch.
package foreignflags

import (
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/wire/http1"
	"github.com/anyurl/fetch/uri"
	"github.com/spf13/pflag"
)

// mask replaces a value that may be secret.
const mask = "***"

// A Hint describes a command line with options of another program.
type Hint struct {
	Program string   // name of the other program
	Options []string // its options, as typed
	Command []string // the words of the equivalent command line of fetch
	Missing []string // options that have no equivalent
}

// String returns the hint as a line of text without passwords.
func (h *Hint) String() string {
	text := "the command line has options of " + h.Program + " (" + strings.Join(h.Options, " ") + "); use: " +
		uri.Redact(Quote(h.Command))
	if len(h.Missing) > 0 {
		text += " (fetch has no equivalent of " + strings.Join(h.Missing, " ") + ")"
	}
	return text
}

// Find looks for options of other programs in args, which do not contain the
// name of the command. A flag of fetch has curl's meaning unless its value
// shows that another program was meant. The parameter flags contains the flags of
// the command, such as "fetch mirror". Find returns nil if there are no such
// options, or if an option is unknown to both programs.
func Find(command string, flags *pflag.FlagSet, args []string) *Hint {
	for _, p := range programs(command) {
		words := (&reader{flags: flags, p: p, args: args}).read()
		found, foreign := p.shown(words)
		if !found {
			continue
		}
		if foreign {
			all := (&reader{flags: flags, p: p, foreign: true, args: args}).read()
			if h := p.translate(command, all); h != nil {
				return h
			}
		}
		if h := p.translate(command, words); h != nil {
			return h
		}
	}
	return nil
}

// shown reports whether the words contain options of p. If foreign is true, all
// options with a single dash belong to p.
func (p *program) shown(words []word) (found, foreign bool) {
	for _, w := range words {
		if w.flag == nil && w.option != nil {
			found = true
			foreign = foreign || w.option.crawl || !strings.HasPrefix(w.spelled, "--")
		}
		if w.flag == nil {
			foreign = foreign || w.spelled == "--" // an option such as -O-
			continue
		}
		for _, s := range append(signs(), listingSigns()...) {
			if s.program == p.name && s.flag == w.flag.Name && (w.bare || s.shown(w.value, words)) {
				return true, true
			}
		}
	}
	return found || foreign && p.clusters == wgetStyle, foreign
}

// A translation collects the parts of a Hint.
type translation struct {
	Hint
	command string
	options []*option
	curl    bool     // the command line has short options of curl
	flags   []string // flags of fetch
	args    []string // arguments
}

// translate returns a Hint with the equivalent command line of fetch, or nil if
// an option is unknown.
func (p *program) translate(command string, words []word) *Hint {
	t := &translation{command: command, Hint: Hint{Program: p.name}}
	for _, w := range words {
		switch {
		case w.option == nil || w.flag != nil:
		case w.option.crawl:
			t.command = "fetch mirror"
		case w.option.browse:
			t.command = "fetch browse"
		}
	}
	for _, w := range restoreRemoteName(words) {
		switch {
		case w.spelled == "":
			t.args = append(t.args, w.value)
		case w.flag != nil:
			t.keep(w)
		case w.option != nil:
			t.replace(w)
		default:
			return nil
		}
	}
	if len(t.options) == 0 {
		return nil
	}
	if p.finish != nil {
		p.finish(t)
	}
	t.Command = slices.Concat(strings.Fields(t.command), t.flags, t.args)
	for i, text := range t.Command {
		t.Command[i] = maskLogin(text)
	}
	return &t.Hint
}

// maskLogin replaces the password in a URL or a proxy without a scheme, such as
// USER:PASSWORD@HOST. [uri.Redact] finds it only after a scheme.
func maskLogin(text string) string {
	at := strings.LastIndexByte(text, '@')
	if at < 0 || strings.Contains(text, "://") {
		return text
	}
	if user, _, ok := strings.Cut(text[:at], ":"); ok {
		return user + ":" + mask + text[at:]
	}
	return text
}

// keep copies a typed flag of fetch to the translation. A value that may be
// secret is masked.
func (t *translation) keep(w word) {
	t.curl = t.curl || !strings.HasPrefix(w.spelled, "--")
	switch {
	case w.flag.NoOptDefVal != "":
		t.flags = append(t.flags, w.spelled)
	case isSecret(w.flag.Name, w.value):
		t.flags = append(t.flags, w.spelled, mask)
	default:
		t.flags = append(t.flags, w.spelled, w.value)
	}
}

// replace adds the flags of fetch that replace an option.
func (t *translation) replace(w word) {
	o, value := w.option, w.value
	t.options = append(t.options, o)
	if !slices.Contains(t.Options, w.spelled) {
		t.Options = append(t.Options, w.spelled)
	}
	flags := o.fetch
	if t.command == "fetch mirror" {
		flags = o.mirror
	}
	if o.convert != nil && flags != missing {
		if value = o.convert(value); value == "" {
			flags = missing
		}
	}
	if flags == missing {
		t.Missing = append(t.Missing, w.spelled)
		return
	}
	words := strings.Fields(flags)
	for i, word := range words {
		words[i] = strings.ReplaceAll(word, "VALUE", value)
	}
	if flags == "VALUE" {
		words = strings.Fields(value)
	}
	if t.command == "fetch" && slices.Equal(words, []string{"--ignore-robots"}) {
		return // fetch obeys robots.txt only with --robots
	}
	t.add(words...)
}

// add adds a flag with its value. It does not add a flag twice, except
// --exclude.
func (t *translation) add(words ...string) {
	for len(words) > 1 && words[0] == "-O" {
		t.add("-O")
		words = words[1:]
	}
	if len(words) > 0 && (!slices.Contains(t.flags, words[0]) || words[0] == "--exclude") {
		t.flags = append(t.flags, words...)
	}
}

// finishWget adds the flags for the combination of wget's -r, -m, -l, -np, -H,
// -p and -O.
func finishWget(t *translation) {
	has := func(name string) bool {
		return slices.ContainsFunc(t.options, func(o *option) bool { return hasName(o.names, name) })
	}
	if n := slices.Index(t.flags, "--user"); n >= 0 && has("--password") {
		t.flags = slices.Delete(t.flags, n, n+2) // contained in -u USER
	}
	var front []string
	switch {
	case t.command != "fetch mirror":
		t.finishOutput()
		return
	case has("-p") && !has("-r") && !has("-m"):
		t.flags = append([]string{"--page"}, t.flags...)
		return
	case has("-H"):
		front = append(front, "--scope", "any")
	case !has("-np"):
		front = append(front, "--scope", "host")
	}
	if has("-r") && !has("-m") && !has("-l") {
		front = append(front, "--depth", "5") // the default of wget
	}
	if has("-p") {
		front = append(front, "--page-requisites")
	}
	t.flags = append(front, t.flags...)
}

// finishOutput adds -O, because wget writes files, and removes redundant flags:
// "-o -", which is the default of fetch, and -O if -o or --output-dir is set.
func (t *translation) finishOutput() {
	t.addOutput()
	n := slices.Index(t.flags, "-o")
	if n >= 0 {
		t.flags = slices.DeleteFunc(t.flags, func(flag string) bool { return flag == "-O" })
		n = slices.Index(t.flags, "-o")
	}
	if n >= 0 && n+1 < len(t.flags) && t.flags[n+1] == "-" && !slices.Contains(t.flags, "-C") {
		t.flags = slices.Delete(t.flags, n, n+2)
	}
	if slices.Contains(t.flags, "--output-dir") {
		t.flags = slices.DeleteFunc(t.flags, func(flag string) bool { return flag == "-O" })
	}
}

// addOutput adds the flag for the name of wget's file, unless the command line
// has short options of curl or requests only headers.
func (t *translation) addOutput() {
	if t.command != "fetch" || t.curl || slices.Contains(t.flags, "-I") || slices.Contains(t.flags, "-O") {
		return
	}
	name := []string{"-O"}
	if len(t.args) == 1 && strings.HasSuffix(t.args[0], "/") {
		name = []string{"-o", "index.html"} // -O requires a name in the URL
	}
	t.flags = slices.Concat(name, t.flags)
}

func hasName(names, name string) bool { return slices.Contains(strings.Fields(names), name) }

// isSecret reports whether the value of a flag may contain a secret.
func isSecret(flag, value string) bool {
	switch flag {
	case "user", "proxy-user", "oauth2-bearer", "cookie", "data", "data-urlencode", "pass", "proxy-pass", "ftp-account":
		return true
	case "cert", "proxy-cert":
		return strings.Contains(value, ":") // FILE:PASSPHRASE
	case "header", "proxy-header":
		name, _, _ := strings.Cut(value, ":")
		return http1.IsSecretField(name)
	}
	return false
}

// Quote joins the words of a command line and quotes them for a shell.
func Quote(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@%+,"
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || w != mask && !consistsOf(w, plain) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// consistsOf reports whether all bytes of text are in set.
func consistsOf(text, set string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune(set, r) }) < 0
}
