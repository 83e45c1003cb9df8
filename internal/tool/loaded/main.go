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
	"time"

	"github.com/anyurl/fetch/internal/test/report"
)

func main() {
	runs := flag.Int("runs", 10, "run the command this many times")
	load := flag.String("load", "stress-ng --cpu 4 --io 2", "command that causes the load, in the Debian package stress-ng")
	results := flag.String("results", "bin/results", "write the output of each run and the figures to this folder")
	flag.Parse()
	if err := loaded(strings.Fields(*load), flag.Args(), *runs, *results); err != nil {
		fmt.Fprintln(os.Stderr, "loaded:", err)
		os.Exit(1)
	}
}

// loaded runs the command beside the load.
func loaded(load, command []string, runs int, results string) (err error) {
	if len(load) == 0 || len(command) == 0 {
		return errors.New("the load and the command are required")
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
	passed, total := 0, 0
	for n := range runs {
		took, err := runOnce(command, filepath.Join(results, fmt.Sprintf("loaded-%d.log", n+1)))
		select {
		case <-ended:
			return errors.New("the load has ended by itself")
		default:
		}
		total += took
		if err == nil {
			passed++
		}
		fmt.Printf("run %d after %d s: %s\n", n+1, took, resultOf(err))
		if err := record(results, n+1, passed, total); err != nil {
			return err
		}
	}
	if passed < runs {
		return fmt.Errorf("%d of %d runs failed", runs-passed, runs)
	}
	return nil
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
func record(results string, runs, passed, seconds int) error {
	figure := func(measure string, value int) report.Figure {
		return report.Figure{Layer: "loaded runs", Measure: measure, Value: value, Scope: "loaded"}
	}
	return report.Write(results, "loaded-runs", []report.Figure{figure("runs of all tests", runs), figure("runs without a failure", passed), figure("seconds", seconds)})
}
