package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Leafnode starts the news server leafnode (Debian leafnode), which supports
// neither CAPABILITIES nor pipelined commands. It replies 430 to the number of
// a missing article. Its program fetchnews retrieves the articles from another
// server. Leafnode requires permission to mount file systems.
func Leafnode(t TB, from *News, groups ...string) *Server {
	t.Helper()
	programs := []string{Need(t, "leafnode", "leafnode"), Need(t, "fetchnews", "leafnode")}
	NeedRoot(t, "leafnode")
	unshare := needMount(t, "leafnode")
	const account = "news" // leafnode does not run as another account
	uid, gid, err := ids(account)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	s := newServer(t)
	s.leafnodeTree(account, from.Port, programs)
	s.Put("etc/passwd", fmt.Appendf(nil, "%s:x:%d:%d::/:/bin/false\n", account, uid, gid))
	s.Put("etc/group", fmt.Appendf(nil, "%s:x:%d:\n", account, gid))
	inside := func(args ...string) command {
		const script = `root=$1; shift; mount --bind /usr "$root/usr" && exec unshare --root="$root" "$@"`
		return command{path: unshare, args: append([]string{"--mount", "sh", "-c", script, "sh", s.Root,
			fmt.Sprintf("--setuid=%d", uid), fmt.Sprintf("--setgid=%d", gid)}, args...)}
	}
	fetchNews := func() {
		c := inside("/bin/fetchnews", "-w")
		out, err := exec.Command(c.path, c.args...).CombinedOutput()
		if err != nil {
			t.Fatalf("peer: fetchnews: %v: %s", err, out)
		}
	}
	fetchNews() // retrieves the list of groups
	for _, g := range groups {
		s.write(filepath.Join(s.Root, leafnodeSpool, "interesting.groups", g), nil, 0o644, account)
	}
	fetchNews()
	return s.inetd(func() command { return inside("/bin/leafnode") })
}

const leafnodeSpool = "var/spool/news"

// leafnodeTree creates a root directory for the programs of leafnode, which use
// fixed paths.
func (s *Server) leafnodeTree(account string, upstream uint16, programs []string) {
	s.t.Helper()
	dirs := []string{"failed.postings", "interesting.groups", "leaf.node", "message.id", "out.going", "temp.files"}
	for n := range 1000 {
		dirs = append(dirs, fmt.Sprintf("message.id/%03d", n))
	}
	for i := range dirs {
		dirs[i] = filepath.Join(leafnodeSpool, dirs[i])
	}
	for _, dir := range append(dirs, leafnodeSpool, "etc/news/leafnode", "usr", "bin") {
		s.mkdir(filepath.Join(s.Root, dir), account)
	}
	for name, text := range map[string]string{
		"etc/news/leafnode/config": fmt.Sprintf("server = %s\nport = %d\nexpire = 20000\nmaxage = 20000\nhostname = leaf1.something.net\n", host, upstream),
		"etc/hosts":                host + " localhost leaf1.something.net\n",
		"etc/nsswitch.conf":        "passwd: files\ngroup: files\nhosts: files\n",
	} {
		s.Put(name, []byte(text))
	}
	for name, to := range map[string]string{"lib": "usr/lib", "lib64": "usr/lib64"} {
		if err := os.Symlink(to, filepath.Join(s.Root, name)); err != nil {
			s.t.Fatalf("peer: %v", err)
		}
	}
	for _, program := range programs {
		b, err := os.ReadFile(program)
		if err != nil {
			s.t.Fatalf("peer: %v", err)
		}
		s.write(filepath.Join(s.Root, "bin", filepath.Base(program)), b, 0o755, "")
	}
}
