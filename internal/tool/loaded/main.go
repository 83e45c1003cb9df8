// Program loaded runs a command again and again while another program keeps the
// processors and disks busy, and counts the runs that pass. "make loaded" runs it
// with all tests.
//
// The arguments are the command. Its output is written to a file for each run.
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
	"strings"
	"sync"
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

func main() {
	t := tally{start: time.Now()}
	flag.IntVar(&t.runs, "runs", 10, "run the command this many times")
	flag.IntVar(&t.together, "together", 1, "run this many commands at the same time")
	flag.StringVar(&t.results, "results", "bin/results", "write the output of each run and the figures to this folder")
	load := flag.String("load", "stress-ng --cpu 4 --io 2", "command that causes the load, in the Debian package stress-ng")
	flag.Parse()
	if err := t.loaded(strings.Fields(*load), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "loaded:", err)
		os.Exit(1)
	}
}

// A tally carries out runs and counts them.
type tally struct {
	runs, together int
	results        string // folder
	start          time.Time

	mu            sync.Mutex
	ended, passed int
}

// loaded runs the command beside the load.
func (t *tally) loaded(load, command []string) error {
	if len(load) == 0 || len(command) == 0 || t.together < 1 {
		return errors.New("the load, the command and a positive number of commands are required")
	}
	ctx, cancel := context.WithCancel(context.Background())
	busy := exec.CommandContext(ctx, load[0], load[1:]...)
	busy.Cancel = func() error { return busy.Process.Signal(os.Interrupt) } // so that it ends its children
	if err := busy.Start(); err != nil {
		cancel()
		return err
	}
	ended := make(chan struct{})
	go func() {
		busy.Wait()
		close(ended)
	}()
	defer func() {
		cancel()
		<-ended
	}()
	return t.runAll(command, ended)
}

// runAll carries out all runs. After the load has ended, no run starts.
func (t *tally) runAll(command []string, loadEnded <-chan struct{}) error {
	numbers := make(chan int, t.runs)
	for n := range t.runs {
		numbers <- n + 1
	}
	close(numbers)
	failed := make([]error, t.together)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() {
			for n := range numbers {
				if failed[i] = t.run(n, command, loadEnded); failed[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if t.passed < t.runs {
		return fmt.Errorf("%d of %d runs failed", t.runs-t.passed, t.runs)
	}
	return nil
}

// run carries out run n and records its result. A failed run is no error.
func (t *tally) run(n int, command []string, loadEnded <-chan struct{}) error {
	took, err := runOnce(command, filepath.Join(t.results, fmt.Sprintf("loaded-%d.log", n)))
	select {
	case <-loadEnded:
		return errors.New("the load has ended by itself")
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended++
	if err == nil {
		t.passed++
	}
	fmt.Printf("run %d after %d s: %s\n", n, took, resultOf(err))
	return t.record()
}

func resultOf(err error) string {
	if err == nil {
		return "passed"
	}
	return err.Error()
}

// runOnce runs the command, and returns its duration in seconds. The error has the
// lines of the output that name failed tests.
func runOnce(command []string, log string) (seconds int, err error) {
	c := exec.Command(command[0], command[1:]...)
	c.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -count=1"))
	start := time.Now()
	err = writeOutput(c, log)
	seconds = int(time.Since(start).Round(time.Second) / time.Second)
	if err == nil {
		return seconds, nil
	}
	out, readErr := os.ReadFile(log)
	if readErr != nil {
		return seconds, readErr
	}
	text := []string{fmt.Sprintf("%v, see %s", err, log)}
	for line := range bytes.Lines(out) {
		if s := string(bytes.TrimRight(line, "\n")); strings.HasPrefix(s, "--- FAIL") || strings.HasPrefix(s, "FAIL\t") || strings.HasPrefix(s, "panic:") {
			text = append(text, s)
		}
	}
	return seconds, errors.New(strings.Join(text, "\n\t"))
}

// writeOutput runs the command and writes its output to the file with the given
// name.
func writeOutput(c *exec.Cmd, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	c.Stdout, c.Stderr = f, f
	return c.Run()
}

// record writes the figures of the runs until now.
func (t *tally) record() error {
	figure := func(measure string, value int) report.Figure {
		return report.Figure{Layer: "loaded runs", Measure: measure, Value: value, Scope: "loaded"}
	}
	return report.Write(t.results, "loaded-runs", []report.Figure{
		figure("runs of all tests", t.ended), figure("runs at the same time", min(t.together, t.runs)), figure("runs without a failure", t.passed),
		figure("seconds", int(time.Since(t.start).Seconds())),
	})
}
