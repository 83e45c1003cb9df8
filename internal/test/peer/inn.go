package peer

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// INNOptions configures INN. By default, all clients may read the group
// local.test, and the account User may also post.
type INNOptions struct {
	Groups []string // nil: local.test
	Login  bool     // reading requires a login
	TLS    bool     // STARTTLS on Addr, TLS from the first byte on TLSAddr
	Cert   *Cert    // nil: NewCert with zero options
	Config []string // further lines of inn.conf: "allownewnews: false"
}

// A News is a running INN server.
type News struct {
	*Server
	feed string // the address where innd accepts articles from other servers
}

// INN starts the news server INN (Debian inn2). The program innd receives
// articles, and nnrpd serves readers on Addr and TLSAddr. INN runs as the
// Debian user news in a separate directory tree.
func INN(t TB, opts INNOptions) *News {
	t.Helper()
	inn := innPrograms(t)
	NeedRoot(t, "innd")
	s := newServer(t)
	if opts.TLS {
		s.certify(opts.Cert)
	}
	const account = "news" // innd refuses to run as another account
	news := &News{Server: s}
	inn.tree(s, account, opts)
	s.start(func(base uint16) command {
		s.Addr, news.feed = addr(base), addr(base+2)
		s.configFor("inn.conf", inn.config(s, base+2, account, opts), account)
		run := func(program string, args ...string) command {
			return command{path: inn.path(program), args: args, env: inn.env(s), user: account}
		}
		reader := func(port uint16, args ...string) command {
			return run("nnrpd", append([]string{"-D", "-f", "-n", "-4", host, "-p", fmt.Sprint(port)}, args...)...)
		}
		// The option -N disables filters. The option -c 0 accepts articles of
		// any age.
		c := run("innd", "-d", "-N", "-c", "0", "-4", host, "-P", fmt.Sprint(base+2))
		c.with = []command{reader(base)}
		if s.Cert != nil {
			s.TLSAddr = addr(base + 1)
			c.with = append(c.with, reader(base+1, "-S"))
		}
		return c
	})
	s.greeted(news.feed, "200 ") // nnrpd refuses readers until innd answers
	return news
}

// Feed sends one article to the server with IHAVE, as another news server does.
// It fails the test if the server rejects the article. Lines end in CRLF or LF.
// The article must have the header fields Path, From, Newsgroups, Subject, Date
// and Message-ID. The server keeps all other lines unchanged.
func (n *News) Feed(article string) {
	n.t.Helper()
	if err := n.ihave(article); err != nil {
		n.t.Fatalf("peer: feed: %v", err)
	}
}

func (n *News) ihave(article string) error {
	article = strings.ReplaceAll(strings.ReplaceAll(article, "\r\n", "\n"), "\n", "\r\n")
	_, id, _ := strings.Cut(article, "Message-ID: ")
	id, _, _ = strings.Cut(id, "\r\n")
	conn, err := net.DialTimeout("tcp", n.feed, startTime)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startTime)); err != nil {
		return err
	}
	replies := bufio.NewReader(conn)
	for _, step := range []struct{ say, want string }{
		{"", "200 "},
		{"IHAVE " + id + "\r\n", "335 "},
		{strings.ReplaceAll(article, "\r\n.", "\r\n..") + ".\r\n", "235 "},
	} {
		if _, err := io.WriteString(conn, step.say); err != nil {
			return err
		}
		reply, err := replies.ReadString('\n')
		if err != nil {
			return err
		}
		if !strings.HasPrefix(reply, step.want) {
			return fmt.Errorf("%s: %q, want %q", id, reply, step.want)
		}
	}
	return nil
}

// inn contains the directories of the programs and libraries of INN.
type inn struct{ root, libraries string }

func innPrograms(t TB) inn {
	t.Helper()
	root := packageRoot(t, "inn2", "usr/lib/news/bin/innd")
	shared := packageRoot(t, "inn2-inews", "usr/lib/news/libinn.so.9")
	return inn{root: root, libraries: filepath.Join(root, "usr/lib/news") + ":" + filepath.Join(shared, "usr/lib/news")}
}

func (i inn) path(program string) string { return filepath.Join(i.root, "usr/lib/news/bin", program) }

func (i inn) env(s *Server) []string {
	return []string{"INNCONF=" + filepath.Join(s.Dir, "inn.conf"), "LD_LIBRARY_PATH=" + i.libraries}
}

// tree creates the configuration, the newsgroups, and empty history and spool
// directories. inn.conf is written later, because it contains the ports.
func (i inn) tree(s *Server, account string, opts INNOptions) {
	s.t.Helper()
	for _, dir := range []string{"db", "run", "log", "tmp", "filter", "spool", "articles", "overview", "incoming", "outgoing", "archive", "http"} {
		s.mkdir(filepath.Join(s.Dir, dir), account)
	}
	groups := opts.Groups
	if groups == nil {
		groups = []string{"local.test"}
	}
	var active strings.Builder
	for _, g := range []string{"control", "control.cancel", "junk"} {
		fmt.Fprintf(&active, "%s 0000000000 0000000001 n\n", g)
	}
	for _, g := range groups {
		fmt.Fprintf(&active, "%s 0000000000 0000000001 y\n", g)
	}
	for name, text := range map[string]string{
		"db/active":       active.String(),
		"db/active.times": "",
		"db/newsgroups":   strings.Join(groups, "\tA group of this test\n") + "\tA group of this test\n",
		"db/history":      "",
		"storage.conf":    "method tradspool {\n\tnewsgroups: *\n\tclass: 0\n}\n",
		"newsfeeds":       "ME:*::\n",
		"expire.ctl":      "/remember/:0\n*:A:never:never:never\n",
		"incoming.conf":   "max-connections: 0\npeer ME {\n\thostname: " + host + "\n}\n",
		"control.ctl":     "all:*:*:drop\n",
		"passwd.news":     User + ":" + s.crypt(Password) + "\n",
		"readers.conf":    readersConfig(s, opts),
	} {
		s.configFor(name, text, account)
	}
	s.configFor("inn.conf", i.config(s, 0, account, opts), account)
	cmd := exec.Command(i.path("makedbz"), "-i", "-o", "-f", filepath.Join(s.Dir, "db/history"))
	cmd.Env = append(os.Environ(), i.env(s)...)
	if err := ownGroup(cmd, account); err != nil {
		s.t.Fatalf("peer: %v", err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("peer: makedbz: %v: %s", err, out)
	}
}
