package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
)

const (
	openedPages   = 24  // pages of the site that a browser opens, without the first
	pageScripts   = 19  // scripts of each of them
	heavyRequests = 400 // requests of a large page
	heavyBody     = 256 // size of the body of a large page, in MiB
)

// browserCases returns the cases of crawls with a browser. They measure fetch
// itself, without the processes of the browser.
func browserCases() []Case {
	return []Case{
		{Name: "mirror --browser", Measure: measureTabs},
		{Name: "mirror --browser, large pages", Measure: measureLargePages},
	}
}

// measureTabs crawls pages of 20 requests with 1, 2 and 4 tabs. The time includes
// the start of the browser and --page-idle, which is one second for each page.
func measureTabs(b *block, opts options) []row {
	s := peer.Nginx(b, peer.NginxOptions{})
	var root, scripts strings.Builder
	for i := range pageScripts {
		s.Put(fmt.Sprintf("%d.js", i), []byte(strings.Repeat("// comment\n", 1000)))
		fmt.Fprintf(&scripts, "<script src=%d.js></script>", i)
	}
	for i := range openedPages {
		s.Put(fmt.Sprintf("%d.html", i), fmt.Appendf(nil, "<title>%d</title>%s", i, &scripts))
		fmt.Fprintf(&root, "document.write('<a href=%d.html>page</a>');", i)
	}
	s.Put("index.html", []byte("<script>"+root.String()+"</script>"))
	var rows []row
	for _, tabs := range []int{1, 2, 4} {
		var speed, used []float64
		for range opts.runs {
			took, peak := crawlWithBrowser(b, opts.program, 1+openedPages, "--browser-tabs", fmt.Sprint(tabs), "http://"+s.Addr+"/")
			speed, used = append(speed, 60*(1+openedPages)/took), append(used, peak)
		}
		name := fmt.Sprintf("mirror --browser-tabs %d", tabs)
		rows = append(rows, row{name: name, kind: pagesPerMinute, fetch: middle(speed)},
			row{name: name, kind: memory, fetch: middle(used), target: &Target{Measure: memory, Limit: 64 << 20}})
	}
	return rows
}

// measureLargePages crawls pages with many elements, with a large body and with
// many requests, and copies them.
func measureLargePages(b *block, opts options) []row {
	s := peer.Nginx(b, peer.NginxOptions{Server: "location /small/ { default_type text/plain; return 200 $uri; }"})
	s.Put("index.html", []byte("<a href=elements.html>1</a><a href=body.html>2</a><a href=requests.html>3</a>"))
	s.Put("elements.html", []byte(`<meta charset=utf-8><script>for (let i = 0; i < 100; i++) {
		document.body.insertAdjacentHTML('beforeend', '<p><a href=#x>\u00e9\u4e2d</a> and a text</p>'.repeat(1000)) }</script>`))
	s.Put("body.html", []byte("<script>fetch('large').then(r => r.body.pipeTo(new WritableStream()))</script>"))
	s.Put("requests.html", fmt.Appendf(nil, "<script>for (let i = 0; i < %d; i++) { fetch('small/' + i) }</script>", heavyRequests))
	if err := os.Truncate(s.Put("large", nil), heavyBody<<20); err != nil {
		b.Fatalf("bench: %v", err)
	}
	var took, used []float64
	for range opts.runs {
		seconds, peak := crawlWithBrowser(b, opts.program, 4, "--page-copies", "screenshot,pdf,text", "http://"+s.Addr+"/")
		took, used = append(took, seconds), append(used, peak)
	}
	name := "mirror --browser, large pages"
	return []row{{name: name, kind: wall, fetch: middle(took)},
		{name: name, kind: memory, fetch: slices.Max(used), target: &Target{Measure: memory, Limit: 64 << 20}}}
}

// crawlWithBrowser crawls a site with a browser and returns the time in seconds and the
// peak memory of fetch. It fails unless the given number of pages was read.
func crawlWithBrowser(b *block, path string, pages int, args ...string) (took, peak float64) {
	dir := scratchDir(b, false)
	archive := filepath.Join(dir, "archive")
	p := program{path: path, args: append([]string{"--no-config", "-s", "mirror", "--browser", "--warc", "--no-tree", "--delay", "0",
		"--output-dir", archive}, args...)}
	took, peak, err := p.watch(b)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	log, err := os.ReadFile(filepath.Join(archive, "crawl.jsonl"))
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	read := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"state":"done"`) && strings.Contains(line, "text/html") && !strings.Contains(line, `"unread":true`) {
			read++
		}
	}
	if read != pages {
		b.Fatalf("bench: the browser has read %d pages, want %d: %s", read, pages, log)
	}
	if err := os.RemoveAll(dir); err != nil {
		b.Fatalf("bench: %v", err)
	}
	return took, peak
}

// watch runs a program and returns its time in seconds and the peak memory of its
// process. The resources that the kernel reports at the end of a process include
// the resources of its child processes, such as a browser.
func (p program) watch(b *block) (took, peak float64, err error) {
	cmd, stderr, cancel := p.command(b.ctx)
	defer cancel()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		select {
		case <-poll.C:
			if used, err := peakOf(cmd.Process.Pid); err == nil { // fails after the end of the process
				peak = used
			}
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%q: %w: %s", cmd.Args, err, stderr)
			}
			return time.Since(began).Seconds(), peak, err
		}
	}
}
