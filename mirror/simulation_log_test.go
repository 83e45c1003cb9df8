package mirror_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/anyurl/fetch/internal/test/testdir"
)

// simulationCounts counts the events of simulations.
type simulationCounts struct {
	Runs, Kills, Interrupts, Outages, ClockSteps, LostResponses, Requests, Partitions int
}

func (c *simulationCounts) add(o simulationCounts) {
	c.Runs += o.Runs
	c.Kills += o.Kills
	c.Interrupts += o.Interrupts
	c.Outages += o.Outages
	c.ClockSteps += o.ClockSteps
	c.LostResponses += o.LostResponses
	c.Requests += o.Requests
	c.Partitions += o.Partitions
}

// newSimulationDir creates the directory for the files of a simulation.
func newSimulationDir(t *testing.T) string {
	dir, err := *simulationDir, error(nil)
	if dir == "" {
		dir, err = testdir.New()
	} else {
		err = os.Mkdir(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// record adds an event to the log. With -simulation-log, the event ends with a
// random number of the runtime. In a process of internal/tool/simulate, this
// number differs after any other choice of the runtime. The caller holds s.mu.
func (s *simulation) record(event string) {
	if *simulationLog != "" {
		event = fmt.Sprintf("%s [%08x]", event, rand.Uint32())
	}
	s.log = append(s.log, event)
}

// report logs the events of a failed simulation, and writes those of each
// simulation to the file of -simulation-log.
func (s *simulation) report() {
	if s.Failed() {
		for _, line := range s.log {
			s.Log(line)
		}
		s.Logf("go test ./mirror -run '^TestSimulatedCrawl$' -simulation-seed %d repeats the sites and failures, in another order of goroutines", s.seed)
		s.Logf("go run ./internal/tool/simulate -first %d -last %d repeats the order of goroutines of this program exactly", s.seed, s.seed)
	}
	if *simulationLog == "" {
		return
	}
	f, err := os.OpenFile(*simulationLog, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(strings.Join(s.log, "\n") + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		s.Error(err)
	}
}

// note records an event of the simulation.
func (s *simulation) note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := time.Since(s.net.started).Round(time.Millisecond).String()
	if s.workers == nil {
		at += fmt.Sprintf(", process %d", s.life)
	}
	s.record(at + ": " + fmt.Sprintf(format, args...))
}
