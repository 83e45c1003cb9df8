package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/anyurl/fetch/internal/test/peer"
)

// recordCases returns the cases for the recording proxy, fetch record.
func recordCases() []Case {
	const size = 1 << 30
	return []Case{
		{Name: "record 1 GiB", Measure: measureRecord("record 1 GiB", "", size)},
		{Name: "record 1 GiB, server of 100 MiB/s", Measure: measureRecord("record 1 GiB, server of 100 MiB/s", "100m", size)},
	}
}

// measureRecord returns a function that compares curl through the proxy with curl
// that is connected to the server. The server sends a body at the given rate, as
// in peer.NginxOptions. Each run has a new WARC file, because a body that was
// recorded before becomes a revisit record.
func measureRecord(name, rate string, size int64) func(b *block, opts options) []row {
	return func(b *block, opts options) []row {
		curl, err := exec.LookPath("curl")
		if err != nil {
			b.Skipf("bench: %v (make peers)", err)
		}
		object := serveFrom(peer.NginxOptions{Rate: rate}, size)(b)
		args := []string{"-q", "-sS", object.Words["url"]}
		direct := program{name: "curl without the proxy", path: curl, args: append([]string{"--noproxy", "*"}, args...)}
		var proxied, alone, used, worked []float64
		for run := range opts.runs {
			r := startRecord(b, opts.program)
			p := program{name: "curl", path: curl, args: append([]string{"--proxy", r.proxy}, args...)}
			if run == 0 {
				for _, p := range []program{p, direct} {
					if err := p.check(b.ctx, object); err != nil {
						b.Fatalf("bench: %s: %v", name, err)
					}
				}
				r.stop(b)
				r = startRecord(b, opts.program)
				p.args[1] = r.proxy
			}
			through, err := p.measure(b.ctx, 1)
			if err != nil {
				b.Fatalf("bench: %s: %v", name, err)
			}
			without, err := direct.measure(b.ctx, 1)
			if err != nil {
				b.Fatalf("bench: %s: %v", name, err)
			}
			proxied, alone, used = append(proxied, through[wall]), append(alone, without[wall]), append(used, r.stop(b))
			worked = append(worked, (r.cmd.ProcessState.UserTime() + r.cmd.ProcessState.SystemTime()).Seconds())
		}
		return []row{
			{name: name, kind: wall, fetch: middle(proxied), rival: direct.name, other: middle(alone), target: &Target{Measure: wall, Ratio: 1 / 0.7}},
			{name: name, kind: cpu, fetch: middle(worked)},
			{name: name, kind: memory, fetch: middle(used), target: &Target{Measure: memory, Limit: 64 << 20}},
		}
	}
}

// A recorder is a running process of fetch record.
type recorder struct {
	cmd   *exec.Cmd
	proxy string // URL of the proxy with its token
	dir   string // folder of the WARC file
}

// startRecord starts fetch record with a new WARC file and waits until the proxy
// listens.
func startRecord(b *block, path string) *recorder {
	r := &recorder{dir: scratchDir(b, false)}
	var random [16]byte
	rand.Read(random[:])
	token, tokenFile := hex.EncodeToString(random[:]), filepath.Join(r.dir, "token")
	if err := os.WriteFile(tokenFile, []byte(token+"\n"), 0o600); err != nil {
		b.Fatalf("bench: %v", err)
	}
	ctx, cancel := context.WithTimeout(b.ctx, runTime)
	r.cmd = exec.CommandContext(ctx, path, "--no-config", "record", "--listen", "127.0.0.1:0", "--ca", filepath.Join(r.dir, "ca.pem"),
		"--token-file", tokenFile, "--warc", filepath.Join(r.dir, "all.warc.gz"))
	out, err := r.cmd.StderrPipe()
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		cancel()
		b.Fatalf("bench: %v", err)
	}
	b.Cleanup(func() {
		cancel()
		r.cmd.Wait() // stop has waited, or the process was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	_, addr, _ := strings.Cut(line, "http://")
	addr, _, ok := strings.Cut(addr, ",")
	if err != nil || !ok {
		b.Fatalf("bench: fetch record: %q, %v", line, err)
	}
	r.proxy = fmt.Sprintf("http://bench:%s@%s", token, addr)
	return r
}

// stop ends the process and removes its files. It returns the peak memory.
func (r *recorder) stop(b *block) float64 {
	used, err := peakOf(r.cmd.Process.Pid)
	if err == nil {
		err = r.cmd.Process.Signal(syscall.SIGTERM)
	}
	if err == nil {
		err = r.cmd.Wait()
	}
	if err == nil {
		err = removeAll(r.dir)
	}
	if err != nil {
		b.Fatalf("bench: fetch record: %v", err)
	}
	return used
}
