package peer

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Zebra starts the Z39.50 server Zebra (Debian idzebra-2.0-utils,
// idzebra-2.0-common) with the database Default. The records are SGML texts in
// the GILS profile, such as "<gils><title>T</title></gils>". The server returns
// them as GRS-1, SUTRS, XML and USMARC.
func Zebra(t TB, records ...string) *Server {
	t.Helper()
	program, index := Need(t, "zebrasrv", "idzebra-2.0-utils"), Need(t, "zebraidx", "idzebra-2.0-utils")
	const tables = "usr/share/idzebra-2.0/tab"
	root := packageRoot(t, "idzebra-2.0-common", filepath.Join(tables, "gils.abs"))
	s := newServer(t)
	for i, r := range records {
		s.Put(fmt.Sprintf("%03d.sgml", i), []byte(r))
	}
	db := filepath.Join(s.Dir, "db")
	account := unprivileged()
	s.mkdir(db, account)
	conf := s.config("zebra.cfg", fmt.Sprintf("profilePath: %s\nattset: bib1.att\nattset: gils.att\nrecordType: grs.sgml\n"+
		"register: %s:100M\nlockDir: %[2]s\nperm.anonymous: r\n", filepath.Join(root, tables), db))
	for _, args := range [][]string{{"init"}, {"update", s.Root}} {
		if out, err := exec.Command(index, append([]string{"-c", conf}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("peer: zebraidx: %v: %s", err, out)
		}
	}
	files, err := os.ReadDir(db)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	for _, f := range files {
		if err := chown(filepath.Join(db, f.Name()), account); err != nil {
			t.Fatalf("peer: %v", err)
		}
	}
	return s.start(func(base uint16) command {
		s.Addr = addr(base)
		return command{path: program, args: []string{"-S", "-c", conf, "-w", s.Dir, "tcp:" + s.Addr}, user: account}
	})
}
