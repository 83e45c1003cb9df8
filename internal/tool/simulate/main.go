// Program simulate runs simulated crawls of package mirror, each in a process
// whose goroutines always run in the same order. "make simulate" runs it.
//
// A seed determines the choices of a simulation. The order of its goroutines is a
// choice of the Go runtime, which uses random numbers on purpose, for example for
// timers of the same instant. This program compiles the test with a changed copy
// of four files of the runtime. The random numbers of a synctest bubble then
// start with the same value in each process, and a goroutine runs until it waits.
// The test uses one processor and no garbage collection.
//
// Three further inputs of a process must not differ. Its directory has a relative
// name. The seed determines the numbers of crypto/rand. The changed package os
// returns the same modification time for all files. The order of two writes
// within a tick of the real clock is unknown.
//
// The flag -twice compares two processes. The second one is stopped again and
// again for some milliseconds, so that its real clock differs. Each event contains
// a random number of the bubble, which shows any other choice before the event.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/anyurl/fetch/internal/test/report"
	"github.com/anyurl/fetch/internal/test/testdir"
)

func main() {
	first := flag.Uint64("first", 1, "first seed")
	last := flag.Uint64("last", 20, "last seed")
	schedule := flag.Uint64("schedule", 0, "first schedule of each seed")
	schedules := flag.Uint64("schedules", 1, "number of schedules of each seed")
	twice := flag.Bool("twice", false, "run each simulation twice and compare the events")
	results := flag.String("results", "", "with -twice, write the figures to a file in this folder")
	flag.Parse()
	if err := simulate(*first, *last, *schedule, *schedules, *twice, *results); err != nil {
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(1)
	}
}

// simulate runs the simulations with the seeds first to last. It returns an error
// if one fails, or if two runs differ.
func simulate(first, last, schedule, schedules uint64, twice bool, results string) error {
	dir, err := os.MkdirTemp("", "simulate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := writeOverlay(dir)
	if err != nil {
		return err
	}
	folder, err := testdir.New()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s := simulator{program: filepath.Join(dir, "test"), log: filepath.Join(dir, "log"), folder: folder}
	c := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", s.program, "./mirror")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var total, failed, differ, events int
	for n := range (last - first + 1) * schedules {
		seed, order := first+n/schedules, schedule+n%schedules
		total++
		log, err := s.run(seed, order, false)
		if err != nil {
			failed++
			fmt.Printf("seed %d failed: go run ./internal/tool/simulate -first %d -last %d -schedule %d repeats it\n%v\n", seed, seed, seed, order, err)
		}
		events += bytes.Count(log, []byte("\n"))
		if !twice {
			continue
		}
		again, failedAgain := s.run(seed, order, true)
		if (err == nil) != (failedAgain == nil) || !bytes.Equal(log, again) {
			differ++
			fmt.Printf("seed %d, schedule %d: two runs differ:\n%s\nerror of the second run: %v\n", seed, order, difference(log, again), failedAgain)
		}
	}
	fmt.Printf("%d simulations, %d events, %d failed\n", total, events, failed)
	if twice {
		fmt.Printf("%d of %d simulations differ from their repetition\n", differ, total)
	}
	if failed+differ > 0 {
		return errors.New("not all simulations succeeded")
	}
	if !twice {
		return nil
	}
	figure := func(measure string, value int) report.Figure {
		return report.Figure{Layer: "repeated simulations", Measure: measure, Value: value, Scope: "simulate"}
	}
	return report.Write(results, "repeated-simulations", []report.Figure{figure("simulations", total), figure("events", events),
		figure("simulations that differ from their repetition", differ)})
}

// A simulator runs the test program.
type simulator struct{ program, log, folder string }

// filesFolder is the directory of a simulation in the folder of a simulator. All
// processes have the same relative name.
const filesFolder = "files"

// run runs the simulation with the given seed and schedule, and returns its
// events. If disturbed is true, the process is stopped and continued meanwhile.
func (s simulator) run(seed, schedule uint64, disturbed bool) (log []byte, err error) {
	c := exec.Command(s.program, "-test.run", "^TestSimulatedCrawl$", "-test.timeout", "10m", "-simulation-seed", strconv.FormatUint(seed, 10),
		"-simulation-log", s.log, "-simulation-dir", filesFolder)
	c.Dir = s.folder
	c.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1,memprofilerate=0",
		scheduleVariable+"="+strconv.FormatUint(schedule, 10))
	if err := os.WriteFile(s.log, nil, 0o666); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if disturbed {
			disturb(ctx, c.Process)
		}
	}()
	if failed := c.Wait(); failed != nil {
		err = fmt.Errorf("%w: %s", failed, out.Bytes())
	}
	cancel()
	<-done
	log, unread := os.ReadFile(s.log)
	return log, errors.Join(err, unread, os.RemoveAll(filepath.Join(s.folder, filesFolder)))
}

// difference returns the first lines in which two logs differ.
func difference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for n := range min(len(x), len(y)) {
		if !bytes.Equal(x[n], y[n]) {
			return fmt.Sprintf("line %d: %s\nline %d: %s", n+1, x[n], n+1, y[n])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}
