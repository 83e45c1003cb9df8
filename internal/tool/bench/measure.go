package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"time"
)

// A measure identifies a measured quantity, such as CPU time or memory.
type measure int

const (
	cpu      measure    = iota // user and system time of the process, in seconds
	memory                     // peak resident memory, in bytes
	wall                       // time from start to exit, in seconds
	measures                   // number of measures of a process
	syncs    = measures        // system calls that sync files, for each file

	pagesPerMinute = measures + 1
)

var measureNames = [...]string{cpu: "cpu", memory: "memory", wall: "wall", syncs: "syncs", pagesPerMinute: "pages/min"}

func (m measure) String() string { return measureNames[m] }

// A usage contains the resources that one process used. If a run consists of
// several processes, the values are averages.
type usage [measures]float64

// median returns the median of each measure.
func median(samples []usage) usage {
	var mid usage
	for m := range measures {
		var all []float64
		for _, u := range samples {
			all = append(all, u[m])
		}
		slices.Sort(all)
		mid[m] = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	}
	return mid
}

// runTime is the time limit for one process.
const runTime = time.Hour

type program struct {
	name, path string
	args       []string
	dir        string // output directory; empty if the program writes to standard output
	checkDir   func(dir string) error
	lines      int // if not 0, expected number of lines on standard output
}

// command returns a command that runs p and discards its standard output. It
// also returns the buffer that receives standard error.
func (p program) command(ctx context.Context) (*exec.Cmd, *bytes.Buffer, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr, cancel
}

// check runs p once and returns an error if its output differs from the
// expected output.
func (p program) check(ctx context.Context, want Object) error {
	cmd, stderr, cancel := p.command(ctx)
	defer cancel()
	sum := sha256.New()
	var n counter
	var lines lineCounter
	cmd.Stdout = io.MultiWriter(sum, &n, &lines)
	err := cmd.Run()
	switch {
	case err != nil || p.dir == "":
	case p.checkDir != nil:
		err = p.checkDir(p.dir)
	default:
		err = concatenate(cmd.Stdout, p.dir)
	}
	if err != nil {
		return fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr)
	}
	if p.lines > 0 && int(lines) != p.lines {
		return fmt.Errorf("%q: %d lines, want %d", cmd.Args, lines, p.lines)
	}
	onlyLines := p.lines > 0 && want.Sum == [sha256.Size]byte{}
	if p.checkDir == nil && !onlyLines && [sha256.Size]byte(sum.Sum(nil)) != want.Sum {
		return fmt.Errorf("%q: delivered %d bytes, which differ from the object", cmd.Args, n)
	}
	return nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte("\n")))
	return len(p), nil
}

// measure runs p several times and returns the mean of each measure.
func (p program) measure(ctx context.Context, starts int) (usage, error) {
	var total usage
	for range starts {
		if p.dir != "" {
			if err := removeAll(p.dir); err != nil {
				return usage{}, err
			}
		}
		cmd, stderr, cancel := p.command(ctx)
		var lines lineCounter
		if p.lines > 0 {
			cmd.Stdout = &lines
		}
		resetPeak()
		began := time.Now()
		err := cmd.Run()
		took := time.Since(began)
		cancel()
		if err == nil && int(lines) != p.lines {
			err = fmt.Errorf("%d lines, want %d", lines, p.lines)
		}
		if err != nil {
			return usage{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr)
		}
		if p.checkDir != nil {
			if err := p.checkDir(p.dir); err != nil {
				return usage{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr)
			}
		}
		state := cmd.ProcessState
		total[cpu] += (state.UserTime() + state.SystemTime()).Seconds()
		total[wall] += took.Seconds()
		total[memory] += peak(state.SysUsage())
	}
	for m := range total {
		total[m] /= float64(starts)
	}
	return total, nil
}

// minMemory returns the peak memory of the program true(1), which is the
// smallest memory that can be measured.
func minMemory(ctx context.Context) (float64, error) {
	u, err := program{path: "true"}.measure(ctx, 1)
	return u[memory], err
}
