package objectflags

import (
	"time"

	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/telnet"
)

// sessionFlags are the flags for telnet, rlogin and tn3270 URLs.
type sessionFlags struct {
	idle     options.Seconds
	terminal string
	codePage int
	screen   string
}

func (f *sessionFlags) Register(s *options.Set) {
	p := s.Section("Terminal sessions")
	p.Var(&f.idle, "idle", "end a session if the server is silent for `SECONDS`")
	p.StringVar(&f.terminal, "terminal", "", "send `TYPE` as the terminal type (telnet, rlogin, tn3270)")
	p.StringVar(&f.screen, "screen", "text", "write tn3270 screens as `FORM` (text or json)")
	options.SetValues(p.Lookup("screen"), "text", "json")
	p.IntVar(&f.codePage, "code-page", 37, "decode tn3270 screens with EBCDIC code page `N`")
}

// options converts the flags to options of the telnet package.
func (f *sessionFlags) options() (telnet.Options, error) {
	o := telnet.Options{Terminal: f.terminal, Idle: time.Duration(f.idle), CodePage: f.codePage, JSON: f.screen == "json"}
	if f.screen != "text" && f.screen != "json" {
		return o, fetch.Usage.Errorf("--screen is text or json, not %q", f.screen)
	}
	return o, nil
}
