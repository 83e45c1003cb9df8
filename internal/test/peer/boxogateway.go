package peer

import (
	"os"
	"path/filepath"
	"strings"
)

// A Gateway is a trustless gateway of IPFS.
type Gateway struct {
	*Server
	CIDs map[string]string // identifiers of the served directory, by the form of its blocks
}

// BoxoGateway starts a trustless gateway with the blocks of a directory, which
// the function fill creates. The program in testdata/boxogateway uses the
// module github.com/ipfs/boxo of the IPFS project, and "make peers" builds it in
// a module of its own. It stores the directory in several forms, such as "raw" and
// "shard".
//
// If the program is missing, the test is skipped. With CI=true in the
// environment, the test fails instead.
func BoxoGateway(t TB, fill func(dir string)) *Gateway {
	t.Helper()
	skipShort(t, "boxogateway")
	program := filepath.Join(unpacked, "boxogateway@1", "boxogateway")
	if _, err := os.Stat(program); err != nil {
		skip(t, "%s is absent: make peers builds it", program)
	}
	s := newServer(t)
	fill(s.Root)
	list := filepath.Join(s.Dir, "list")
	s.start(func(base uint16) command {
		s.Addr = addr(base)
		return command{path: program, args: []string{s.Addr, s.Root, list}}
	})
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatalf("peer: %v", err)
	}
	g := &Gateway{s, map[string]string{}}
	for line := range strings.Lines(string(text)) {
		form, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		g.CIDs[form] = id
	}
	return g
}
