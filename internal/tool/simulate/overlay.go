package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A change replaces a text in a file, where it must occur once. The path of the
// file is relative to the folder of package runtime.
type change struct{ file, old, text string }

// scheduleVariable is the environment variable with the number of an order of
// goroutines.
const scheduleVariable = "SIMULATION_SCHEDULE"

// changes make the order of goroutines depend only on their actions and on
// scheduleVariable.
var changes = [...]change{
	{"synctest.go", "\t\tid:      bubbleGen.Add(1),\n", "\t\tid:      bubbleGen.Add(1),\n\t\trandom:  firstRandom(),\n"},
	{"synctest.go", "type synctestBubble struct {\n", `// firstRandom returns the value of a variable of the environment.
func firstRandom() (n uint64) {
	for _, c := range []byte(gogetenv("` + scheduleVariable + `")) {
		n = 10*n + uint64(c-'0')
	}
	return n << 32
}

// next returns the next random number of the bubble.
//
//go:nosplit
func (b *synctestBubble) next() uint64 {
	b.random += 0x9e3779b97f4a7c15
	x := b.random
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

type synctestBubble struct {
	random uint64
`},
	{"rand.go", "\nfunc rand() uint64 {\n", "\nfunc rand() uint64 {\n\tif b := getg().bubble; b != nil {\n\t\treturn b.next()\n\t}\n"},
	{"rand.go", "\nfunc cheaprand() uint32 {\n", "\nfunc cheaprand() uint32 {\n\tif b := getg().bubble; b != nil {\n\t\treturn uint32(b.next())\n\t}\n"},
	// Hashes of map keys use a random number of the process.
	{"rand.go", "\tglobalRand.state.Init(*seed)\n", "\tclear(seed[:])\n\tglobalRand.state.Init(*seed)\n"},
	// A mutex does not hand itself over because a goroutine waited for 1 ms.
	{"../internal/sync/mutex.go", "starvationThresholdNs = 1e6\n", "starvationThresholdNs = 1e18\n"},
	// Files of the same tick of the real clock have the same time, other files have
	// not. The time is after all times of a bubble.
	{"../os/stat_linux.go", "time.Unix(fs.sys.Mtim.Unix())\n", "time.Unix(1<<32, 0)\n"},
	// No goroutine is interrupted, and a system call keeps its processor.
	{"proc.go", "\nfunc retake(now int64) uint32 {\n", "\nfunc retake(now int64) uint32 {\n\tif true {\n\t\treturn 0\n\t}\n"},
}

// writeOverlay writes the changed files of the runtime to dir. It returns the path
// of a file for the flag -overlay of the go command.
func writeOverlay(dir string) (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", err
	}
	source := filepath.Join(strings.TrimSpace(string(out)), "src", "runtime")
	texts := map[string]string{}
	for _, c := range changes {
		if texts[c.file] == "" {
			text, err := os.ReadFile(filepath.Join(source, c.file))
			if err != nil {
				return "", err
			}
			texts[c.file] = string(text)
		}
		if n := strings.Count(texts[c.file], c.old); n != 1 {
			return "", fmt.Errorf("%s of this version of Go contains %q %d times, want once", c.file, c.old, n)
		}
		texts[c.file] = strings.Replace(texts[c.file], c.old, c.text, 1)
	}
	replace := map[string]string{}
	for name, text := range texts {
		changed := filepath.Join(dir, filepath.Base(name))
		replace[filepath.Join(source, name)] = changed
		if err := os.WriteFile(changed, []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o666)
}
