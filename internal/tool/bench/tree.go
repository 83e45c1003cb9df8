package main

import (
	"fmt"
	"path/filepath"

	"github.com/anyurl/fetch/internal/test/peer"
)

// The directory tree of the cases for fetch find and fetch du.
const (
	treeDirs  = 200
	treeFiles = 100 // in each directory
)

// treeCases returns the cases that list a directory tree over ftp.
func treeCases() []Case {
	lftp := func(command string) []Rival {
		return []Rival{{"lftp", []string{"--norc", "-c", "set net:timeout 60; open {server}; cd tree; " + command}}}
	}
	targets := []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1}, {Measure: memory, Limit: 64 << 20}}
	return []Case{
		{Name: "find, ftp tree of 20,000 files", Serve: serveTree, Fetch: []string{"--no-config", "find", "{url}"}, Rivals: lftp("find"),
			Lines: 1 + treeDirs + treeDirs*treeFiles, Targets: targets},
		{Name: "du, ftp tree of 20,000 files", Serve: serveTree, Fetch: []string{"--no-config", "du", "{url}"}, Rivals: lftp("du -b"),
			Lines: 1 + treeDirs, Targets: targets},
	}
}

// serveTree starts an FTP server with a directory tree.
func serveTree(t peer.TB) Object {
	s := vsftpd(t)
	content := make([]byte, 100)
	for dir := range treeDirs {
		for file := range treeFiles {
			s.Put(filepath.Join("tree", fmt.Sprintf("%03d", dir), fmt.Sprintf("file%03d.txt", file)), content)
		}
	}
	return Object{Words: map[string]string{"url": "ftp://" + s.Addr + "/tree/", "server": "ftp://" + s.Addr + "/"}}
}
