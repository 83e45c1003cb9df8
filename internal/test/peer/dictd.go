package peer

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// A Dictionary is a database of dictd. Definitions maps each word to the text
// of its definition.
type Dictionary struct {
	Name, Description string
	Definitions       map[string]string
}

// Dictd starts the dictionary server dictd (Debian dictd). Clients may
// authenticate as User with Password. The server does not require this.
func Dictd(t TB, all ...Dictionary) *Server {
	t.Helper()
	program, format := Need(t, "dictd", "dictd"), Need(t, "dictfmt", "dictfmt")
	s := newServer(t)
	config := "access {\n allow *\n}\n"
	for _, d := range all {
		base := filepath.Join(s.Dir, d.Name)
		cmd := exec.Command(format, "-j", "--utf8", "--allchars", "-s", d.Description, "-u", "test", base)
		var text strings.Builder
		for word, definition := range d.Definitions {
			fmt.Fprintf(&text, ":%s:%s\n", word, definition)
		}
		cmd.Stdin = strings.NewReader(text.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("peer: dictfmt: %v: %s", err, out)
		}
		config += fmt.Sprintf("database %s {\n data %q\n index %q\n}\n", d.Name, base+".dict", base+".index")
	}
	config += fmt.Sprintf("user %s %s\n", User, Password)
	file := s.config("dictd.conf", config)
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		args := []string{"--config", file, "--listen-to", host, "--port", fmt.Sprint(base), "-d", "nodetach", "--locale", "C.UTF-8",
			"--pid-file", filepath.Join(s.Dir, "dictd.pid")}
		return command{path: program, args: args, user: unprivileged()}
	})
}
