package main

import (
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/anyurl/fetch/internal/test/peer"
)

// A Case is a benchmark task. fetch and other programs perform the task with
// the same server.
type Case struct {
	Name    string
	Serve   func(t peer.TB) Object
	Fetch   []string // arguments; {dir} is replaced by an empty directory, and {url} and so on by values of Object.Words
	Rivals  []Rival  // the ratios of Targets refer to the first rival
	Starts  int      // number of processes in a run, one after another; 0 means 1
	Lines   int      // expected number of lines on standard output, which Sum does not describe; 0 means that Sum does
	Items   int      // number of files that a process writes, for the number of syncs per file; 0 means 1
	Targets []Target

	// If Disk is true, {dir} is on the file system of the directory for temporary
	// files. Otherwise it is in memory if possible. DiskTargets has the targets
	// of the copy of the case that cases creates with Disk.
	Disk        bool
	DiskTargets []Target

	// If Measure is not nil, it returns the results, and the other fields except
	// Name are not used.
	Measure func(b *block, opts options) []row
}

// A Rival is another program that performs the same task, such as curl. The
// table reports a rival that is not installed as missing.
type Rival struct {
	Program string // name in PATH, the constant itself or gowarc, newer with the path of a program of Debian 13, or the folder of a Go program of this module, such as "./internal/tool/bench/copyfile"
	Args    []string
}

// An Object describes the files on the test server and the expected output of
// the programs.
type Object struct {
	Sum   [sha256.Size]byte // SHA-256 of the expected standard output, or of the files in {dir}
	Words map[string]string // values of "url" and of the other placeholders in arguments

	// If CheckDir is not nil, it checks the files in {dir} after each run. Sum
	// is then ignored, because the programs use different file names.
	CheckDir func(dir string) error
}

// A Target is a performance goal for one measure. Ratio limits the result of
// fetch divided by the result of the first rival. Limit limits the result of
// fetch itself.
type Target struct {
	Measure measure
	Ratio   float64
	Limit   float64 // in the unit of the measure
}

// cases returns all cases.
func cases() []Case {
	return onDisk(slices.Concat(startCases(), httpCases(), segmentCases(), batchCases(), distantCases(), http3Cases(), ftpCases(), treeCases(), mirrorCases(), serveCases(), textCases(), verifyCases(), sharedCases(), remoteCases(), recordCases(), browserCases(), replayCases()))
}

// onDisk adds a copy of each case that writes files. The copy writes to a disk.
// The names of both cases contain the type of the file system.
func onDisk(all []Case) []Case {
	var out []Case
	for _, c := range all {
		if !c.writesFiles() {
			out = append(out, c)
			continue
		}
		disk := c
		disk.Disk, disk.Targets = true, c.DiskTargets
		for _, c := range []Case{c, disk} {
			c.Name += ", on " + fileSystem(scratchParent(c.Disk))
			out = append(out, c)
		}
	}
	return out
}

func (c Case) writesFiles() bool { return strings.Contains(strings.Join(c.Fetch, " "), "{dir}") }

// compare measures the programs of a case in turn, after it has checked the
// output of each program once. It returns one row for each measure and rival.
func (c Case) compare(b *block, opts options) []row {
	if c.Measure != nil {
		return c.Measure(b, opts)
	}
	programs := c.programs(b, opts)
	object := c.Serve(b)
	for i := range programs {
		if programs[i].path == "" {
			continue
		}
		programs[i].fillArgs(b, object.Words, c.Disk)
		programs[i].checkDir, programs[i].lines = object.CheckDir, c.Lines
		if err := programs[i].check(b.ctx, object); err != nil {
			b.Fatalf("%s: %s: %v", c.Name, programs[i].name, err)
		}
	}
	if opts.base != "" {
		return c.compareRevisions(b, opts, programs)
	}
	samples := c.measure(b, opts, programs)
	rows := c.rows(programs, samples)
	if c.writesFiles() {
		rows = append(rows, c.syncRows(b, programs[0])...)
	}
	return rows
}

// measure runs the programs in turn. It returns the results of each program.
// Before a program writes to the disk, the data of the earlier ones are written,
// so that its syncs do not wait for them.
func (c Case) measure(b *block, opts options, programs []program) [][]usage {
	samples := make([][]usage, len(programs))
	for range opts.runs {
		for i, p := range programs {
			if p.path == "" {
				continue
			}
			if c.Disk {
				writeBack()
			}
			u, err := p.measure(b.ctx, max(c.Starts, 1))
			if err != nil {
				b.Fatalf("%s: %s: %v", c.Name, p.name, err)
			}
			samples[i] = append(samples[i], u)
		}
	}
	return samples
}

// programs returns the programs to be measured: fetch and the rivals. The path
// of a missing rival is empty.
func (c Case) programs(b *block, opts options) []program {
	programs := []program{{name: "fetch", path: opts.program, args: c.Fetch}}
	if opts.base != "" {
		base := program{name: "base", path: opts.base, args: c.Fetch}
		return append(programs, base, base)
	}
	found := opts.as == ""
	for _, r := range c.Rivals {
		if r.Program == opts.as {
			programs[0].args, found = r.Args, true
		}
		path, args, err := opts.program, r.Args, error(nil)
		if file, ok := strings.CutPrefix(r.Program, newer); ok {
			var start []string
			path, start = peer.Newer(b, file)
			args = append(start, args...)
		} else if r.Program == gowarc {
			path = peer.NeedGowarc(b)
		} else if r.Program != itself {
			path, err = find(b, r.Program)
		}
		if err != nil {
			b.Logf("bench: %s: %v (make peers)", c.Name, err)
		}
		programs = append(programs, program{name: r.name(), path: path, args: args})
	}
	if !found {
		b.Fatalf("bench: %s: -as: the case has no rival %q", c.Name, opts.as)
	}
	return programs
}

func (r Rival) name() string { return filepath.Base(r.Program) }

// find returns the path of a program. If the name begins with "./", it is a Go
// program of this module, and find builds it.
func find(b *block, program string) (string, error) {
	if !strings.HasPrefix(program, "./") {
		return exec.LookPath(program)
	}
	path := filepath.Join(scratchDir(b, false), filepath.Base(program))
	out, err := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", path, program).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build %s: %w: %s", program, err, out)
	}
	return path, nil
}

// fillArgs replaces placeholders such as {url} in the arguments of p.
func (p *program) fillArgs(b *block, words map[string]string, disk bool) {
	var pairs []string
	if strings.Contains(strings.Join(p.args, " "), "{dir}") {
		p.dir = scratchDir(b, disk)
		pairs = append(pairs, "{dir}", p.dir)
	}
	for name, value := range words {
		pairs = append(pairs, "{"+name+"}", value)
	}
	r := strings.NewReplacer(pairs...)
	p.args = slices.Clone(p.args)
	for i, arg := range p.args {
		p.args[i] = r.Replace(arg)
	}
}
