package main

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"github.com/anyurl/fetch/internal/test/peer"
)

const (
	ftpFiles    = 2000
	ftpFileSize = 1 << 10
)

func ftpCases() []Case {
	curl := []string{"-q", "-sS", "--noproxy", "*"}
	wget := []string{"--no-config", "--no-proxy", "-q"}
	return []Case{{
		Name:    "ftp 1 GiB",
		Serve:   serveFTP,
		Fetch:   []string{"--no-config", "{url}"},
		Rivals:  []Rival{{"curl", append(curl, "{url}")}, {"wget", append(wget, "-O-", "{url}")}},
		Targets: []Target{{Measure: wall, Ratio: 0.8}, {Measure: cpu, Ratio: 0.6}, {Measure: memory, Limit: 32 << 20}},
	}, {
		Name:  "ftp 2,000 files, 1 connection",
		Serve: serveFTPFiles(ftpFiles),
		Fetch: []string{"--no-config", "--input-file", "{list}"},
		Rivals: []Rival{
			{"wget", append(wget, "-O-", "-i", "{list}")}, {"curl", append(curl, "{url}/[10000-11999]")},
		},
		Targets: []Target{{Measure: wall, Ratio: 1}, {Measure: cpu, Ratio: 1.2}, {Measure: memory, Limit: 32 << 20}},
	}, {
		Name:        "ftp 2,000 files, 4 connections",
		Serve:       serveFTPFiles(ftpFiles),
		Fetch:       []string{"--no-config", "-Z", "--per-host", "4", "--output-dir", "{dir}", "--input-file", "{list}"},
		Rivals:      []Rival{{"wget", append(wget, "-r", "-nH", "-P", "{dir}", "{url}/")}},
		Items:       ftpFiles,
		Targets:     []Target{{Measure: wall, Ratio: 0.6}, {Measure: cpu, Ratio: 1.2}, {Measure: memory, Limit: 32 << 20}, maxFileSyncs},
		DiskTargets: []Target{{Measure: wall, Ratio: 0.6}, {Measure: cpu, Ratio: 1.2}, {Measure: memory, Limit: 32 << 20}, maxFileSyncs},
	}}
}

// vsftpd starts an FTP server without a log, because logging would take most of
// its time. The server uses many data ports, because connections are slow if a
// port has thousands of connections in state TIME_WAIT.
func vsftpd(t peer.TB) *peer.Server {
	return peer.Vsftpd(t, peer.FTPOptions{Config: []string{
		"log_ftp_protocol=NO", "xferlog_enable=NO", "pasv_min_port=25500", "pasv_max_port=32000",
	}})
}

func serveFTP(t peer.TB) Object {
	s := vsftpd(t)
	sum, err := writeRandom(filepath.Join(s.Root, "file"), 1<<30)
	if err != nil {
		t.Fatalf("bench: %v", err)
	}
	return Object{Sum: sum, Words: map[string]string{"url": "ftp://" + s.Addr + "/file"}}
}

// serveFTPFiles returns a function that starts an FTP server with files named
// 10000, 10001 and so on. It also creates a list of their URLs.
func serveFTPFiles(files int) func(peer.TB) Object {
	return func(t peer.TB) Object {
		s := vsftpd(t)
		url := "ftp://" + s.Addr + "/files"
		random := rand.NewChaCha8([32]byte{})
		content := make([]byte, ftpFileSize)
		sum := sha256.New()
		var list strings.Builder
		for i := range files {
			random.Read(content)
			sum.Write(content)
			name := fmt.Sprint(10_000 + i)
			s.Put(filepath.Join("files", name), content)
			fmt.Fprintf(&list, "%s/%s\n", url, name)
		}
		return Object{
			Sum:   [sha256.Size]byte(sum.Sum(nil)),
			Words: map[string]string{"url": url, "list": s.Put("list", []byte(list.String()))},
		}
	}
}
