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

// A measure is one of the figures of a usage.
type measure int

const (
	cpu    measure = iota // seconds of user and system time of the process
	memory                // bytes resident at its peak
	wall                  // seconds from start to exit
	measures
)

var measureNames = [measures]string{cpu: "cpu", memory: "memory", wall: "wall"}

func (m measure) String() string { return measureNames[m] }

// A usage is what one process took, on average over the starts of a run.
type usage [measures]float64

// median takes each figure by itself.
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

// runTime bounds one run of one program.
const runTime = 5 * time.Minute

type program struct {
	name, path string
	args       []string
	dir        string // what it writes files into; "": none
	holds      func(dir string) error
}

// command has no standard output, which is /dev/null.
func (p program) command(ctx context.Context) (*exec.Cmd, *bytes.Buffer, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	return cmd, &said, cancel
}

// check runs the program once and compares what it delivers.
func (p program) check(ctx context.Context, want Object) error {
	cmd, said, cancel := p.command(ctx)
	defer cancel()
	sum := sha256.New()
	var n counter
	cmd.Stdout = io.MultiWriter(sum, &n)
	err := cmd.Run()
	switch {
	case err != nil || p.dir == "":
	case p.holds != nil:
		err = p.holds(p.dir)
	default:
		err = joined(cmd.Stdout, p.dir)
	}
	if err != nil {
		return fmt.Errorf("%q: %w: %s", cmd.Args, err, said)
	}
	if p.holds == nil && [sha256.Size]byte(sum.Sum(nil)) != want.Sum {
		return fmt.Errorf("%q: delivered %d bytes that are not the object", cmd.Args, n)
	}
	return nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// measure runs the program so many times and returns the mean of each figure.
func (p program) measure(ctx context.Context, starts int) (usage, error) {
	var total usage
	for range starts {
		if p.dir != "" {
			if err := empty(p.dir); err != nil {
				return usage{}, err
			}
		}
		cmd, said, cancel := p.command(ctx)
		began := time.Now()
		err := cmd.Run()
		took := time.Since(began)
		cancel()
		if err != nil {
			return usage{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, said)
		}
		if p.holds != nil {
			if err := p.holds(p.dir); err != nil {
				return usage{}, fmt.Errorf("%q: %w: %s", cmd.Args, err, said)
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

// floor returns the memory of a program that needs next to none.
func floor(ctx context.Context) (float64, error) {
	u, err := program{path: "true"}.measure(ctx, 1)
	return u[memory], err
}
