package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/anyurl/fetch/cmd/fetch/internal/app"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/manual"
	"github.com/anyurl/fetch/cmd/fetch/internal/objectflags"
	"github.com/spf13/pflag"
)

// A flagSample is an example of a flag that has an effect on some commands.
type flagSample struct {
	value   string   // value of the flag
	context []string // other arguments, also of the command line without the flag
	path    string   // path of the URL
}

// flagSamples are the flags of these sections that commands other than fetch
// may list in their help.
var flagSamples = map[string]flagSample{
	"no-clobber":  {path: "/dir/", context: []string{"< s saved"}},
	"remote-time": {path: "/dir/a", context: []string{"< s new"}},

	"url":        {value: "SERVER/other/", path: "/dir/"},
	"globoff":    {path: "/{dir,other}/"},
	"input-file": {value: "list", path: "/dir/"},

	"head":           {path: "/dir/"},
	"range":          {path: "/dir/", value: "0-9"},
	"time-cond":      {path: "/dir/", value: "2026-01-01"},
	"segments":       {path: "/dir/", value: "2", context: []string{"< s new"}},
	"robots":         {path: "/closed/"},
	"no-fail":        {path: "/missing"},
	"get":            {path: "/dir/", context: []string{"-d", "a=b"}},
	"data":           {path: "/dir/", context: []string{"-G"}, value: "a=b"},
	"data-urlencode": {path: "/dir/", context: []string{"-G"}, value: "a=b"},
	"url-query":      {path: "/dir/", value: "a=b"},
}

// otherSamples are flags whose effect another test checks: on gopher menus
// without a final dot, and on the number of requests at a time.
var otherSamples = []string{"strict", "parallel", "parallel-max"}

// flagServer is a web server with a listing of the folder /dir/. It records the
// requests.
func flagServer(t *testing.T, log *bytes.Buffer) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(log, r.Method, r.URL, r.Header)
		w.Header().Set("Last-Modified", "Fri, 01 Mar 2024 10:00:00 GMT")
		w.Header().Set("Etag", `"1"`)
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /closed/\n")
		case "/missing":
			w.WriteHeader(404)
			fmt.Fprint(w, "<title>Index of /</title><h1>Index of /</h1><pre><a href=\"a\">a</a>  01-Mar-2024 10:00  5\n</pre>")
		default:
			page := "<title>Index of /</title><h1>Index of /</h1><pre><a href=\"a\">a</a>  01-Mar-2024 10:00  5\n</pre>"
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Accept-Ranges", "bytes")
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-9/%d", len(page)))
				w.WriteHeader(206)
				page = page[:10]
			}
			fmt.Fprint(w, page)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestListedFlags checks that each flag for output, URLs and requests that the
// help of a command lists has an effect on this command, and that the command
// rejects the flags that it does not list. The effect is a difference in the
// output, the requests, the exit code or the files.
func TestListedFlags(t *testing.T) {
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	var log bytes.Buffer
	server := flagServer(t, &log)
	observe := func(command string, args []string, sample flagSample) string {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("list", []byte(server+"/listed/\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("saved", []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		input, all := "", append([]string{command, "--no-config", "--retry", "0"}, args...)
		for _, word := range append(sample.context, server+sample.path) {
			if text, ok := strings.CutPrefix(word, "< "); ok {
				input = text + "\n"
				continue
			}
			all = append(all, strings.ReplaceAll(word, "SERVER", server))
		}
		var stdout, stderr bytes.Buffer
		code := app.Run(all, strings.NewReader(input), &stdout, &stderr)
		result := fmt.Sprint(code, "\n", &stdout, &stderr, &log)
		for _, name := range []string{"new", "saved", "saved.1"} {
			if info, err := os.Stat(name); err == nil {
				result += fmt.Sprint(name, info.Size(), info.ModTime().Year())
			}
		}
		return result
	}
	for _, cmd := range tree.Main.Commands() {
		switch cmd.Name() {
		case "ls", "info", "browse", "plan":
		default:
			continue
		}
		for _, section := range manual.Sections(tree.Set(cmd)) {
			if section.Own || section.Title != "Output" && section.Title != "URLs" && section.Title != "Requests" {
				continue
			}
			for _, f := range section.Flags {
				if slices.Contains(otherSamples, f.Name) {
					continue
				}
				sample, ok := flagSamples[f.Name]
				if !ok {
					t.Errorf("%s lists --%s, which has no sample", cmd.CommandPath(), f.Name)
					continue
				}
				if observe(cmd.Name(), flagArgs(f, strings.ReplaceAll(sample.value, "SERVER", server)), sample) == observe(cmd.Name(), nil, sample) {
					t.Errorf("%s lists --%s, which has no effect", cmd.CommandPath(), f.Name)
				}
			}
		}
	}
}

// flagArgs returns the arguments that set a flag.
func flagArgs(f *pflag.Flag, value string) []string {
	if f.NoOptDefVal != "" {
		return []string{"--" + f.Name}
	}
	return []string{"--" + f.Name, value}
}

// TestUnlistedFlags checks that commands reject the flags for output that have no
// effect, and that plan accepts them.
func TestUnlistedFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	samples := map[string]string{"checksum": "sha256=" + strings.Repeat("0", 64), "range": "0-1", "segments": "2", "continue-at": "1",
		"parallel-max": "2", "directory-prefix": "d", "time-cond": "2026-01-01"}
	tree := app.Commands(&console.Streams{})
	tree.RegisterAll()
	pages := &manual.Pages{Set: tree.Set}
	for command, names := range map[string]string{"ls": objectflags.ListingNames, "search": objectflags.ListingNames, "info": objectflags.InfoNames, "browse": objectflags.BrowseNames, "plan": objectflags.PlanNames} {
		for n, name := range strings.Fields(names) {
			if testing.Short() && n%4 != 0 {
				continue
			}
			f := tree.Main.Flags().Lookup(name)
			if f == nil {
				t.Fatalf("no flag --%s", name)
			}
			value := samples[name]
			if value == "" {
				value = "1"
			}
			args := append(append([]string{"--no-config", command}, flagArgs(f, value)...), "http://127.0.0.1:1/a")
			if command == "search" {
				args = append(args, "word")
			}
			var stdout, stderr bytes.Buffer
			code := app.Run(args, strings.NewReader(""), &stdout, &stderr)
			if rejected := code == 2 && strings.Contains(stderr.String(), "has no effect on fetch "+command); rejected != (command != "plan") {
				t.Errorf("fetch %q: exit code %d: %s", args, code, &stderr)
			}
			cmd, _, err := tree.Main.Find([]string{command})
			if err != nil || strings.Contains(pages.Page(cmd), `--`+strings.ReplaceAll(name, "-", `\-`)+`\fR`) {
				t.Errorf("the manual page of fetch %s lists --%s", command, name)
			}
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("files: %v, %v", files, err)
	}
}
