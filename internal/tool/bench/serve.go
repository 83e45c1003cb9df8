package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/uri"
	"github.com/anyurl/fetch/warc"
)

const (
	servedRecords = 100_000
	servedSize    = 14 << 10 // bytes of a page, about 10.7 KiB in the archive
	servedFiles   = 1000     // pages that nginx also serves
	servedDate    = "20240101000000"
	manyClients   = 1000 // clients at the same time
)

// serveCases returns the cases for the command fetch serve. They measure a
// server instead of single processes.
func serveCases() []Case {
	return []Case{{Name: "serve 1 GiB of 100,000 records", Measure: measureServe}}
}

// measureServe measures fetch serve with an archive of 100,000 pages.
func measureServe(b *block, opts options) []row {
	dir := scratchDir(b, false)
	archive := filepath.Join(dir, "archive")
	rival := peer.Nginx(b, peer.NginxOptions{HTTP: "keepalive_requests 1000000;"})
	random := rand.NewChaCha8([32]byte{})
	err := writeServed(archive, servedRecords, func(n int) []byte {
		page := servedPage(random, n)
		if n < servedFiles {
			rival.Put(fmt.Sprintf("%05d.html", n), page)
		}
		return page
	})
	if err == nil {
		err = indexServed(archive)
	}
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	wacz := filepath.Join(dir, "archive.wacz")
	if out, err := exec.CommandContext(b.ctx, opts.program, "--no-config", "-s", "pack", archive, "--wacz", wacz).CombinedOutput(); err != nil {
		b.Fatalf("bench: pack: %v: %s", err, out)
	}
	var rows []row
	for name, path := range map[string]string{"folder": archive, "WACZ": wacz} {
		var opened []float64
		for range opts.runs {
			began := time.Now()
			s := startServe(b, opts.program, path)
			s.get(b, "/", "Archives")
			opened = append(opened, time.Since(began).Seconds())
			s.stop(b)
		}
		rows = append(rows, row{name: "serve, open a " + name, kind: wall, fetch: middle(opened), target: &Target{Measure: wall, Limit: 1}})
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(b.name, a.name) })
	s := startServe(b, opts.program, archive)
	rows = append(rows, row{name: "serve, first byte of a page", kind: wall, fetch: s.firstByte(b, 2000, servedRecords, s.pagePath), target: &Target{Measure: wall, Limit: 0.010}})
	file := func(n int) string { return fmt.Sprintf("/%05d.html", n) }
	var ours, different, theirs []float64
	for range opts.runs {
		ours = append(ours, load(b, s.addr, 64, servedFiles, s.bytesPath))
		different = append(different, load(b, s.addr, 64, servedRecords, s.bytesPath))
		theirs = append(theirs, load(b, rival.Addr, 64, servedFiles, file))
	}
	s.stop(b)
	rows = append(rows, row{name: "serve, 20,000 requests for 1,000 objects", kind: wall, fetch: middle(ours), rival: "nginx", other: middle(theirs),
		target: &Target{Measure: wall, Ratio: 3}},
		row{name: "serve, 20,000 requests for different objects", kind: wall, fetch: middle(different), rival: "nginx", other: middle(theirs)})
	many := startServe(b, opts.program, archive)
	took := load(b, many.addr, manyClients, servedRecords, many.pagePath)
	used := many.stop(b)
	return append(rows, row{name: "serve, 20,000 pages, 1,000 clients", kind: wall, fetch: took},
		row{name: "serve, 20,000 pages, 1,000 clients", kind: memory, fetch: used, target: &Target{Measure: memory, Limit: 128 << 20}})
}

// middle returns the median.
func middle(all []float64) float64 {
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// writeServed writes an archive of pages to dir, without an index.
func writeServed(dir string, records int, page func(n int) []byte) error {
	if err := os.MkdirAll(filepath.Join(dir, "warc"), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "index"), 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(dir, "warc"))
	if err != nil {
		return err
	}
	defer root.Close()
	w, err := warc.NewWriter(root, warc.Options{Name: "pages.warc.gz"})
	if err != nil {
		return err
	}
	date, err := time.Parse("20060102150405", servedDate)
	if err != nil {
		return err
	}
	for n := range records {
		page := page(n)
		head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n", len(page))
		c := warc.Capture{URL: uri.MustParse(servedURL(n)), Date: date}
		if _, err := w.Write(c.Response(bytes.NewReader(append([]byte(head), page...)))); err != nil {
			return err
		}
	}
	return w.Close()
}

// indexServed writes the index of an archive.
func indexServed(dir string) error {
	index, err := os.Create(filepath.Join(dir, "index", "all.cdxj"))
	if err != nil {
		return err
	}
	defer index.Close()
	return warc.Index(index, filepath.Join(dir, "warc", "pages.warc.gz"))
}

func servedURL(n int) string { return fmt.Sprintf("http://www.example.org/pages/%05d.html", n) }

// servedPage returns a page with links and random words.
func servedPage(random *rand.ChaCha8, n int) []byte {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 \n"
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!DOCTYPE html><html><head><title>Page %d</title></head><body><h1>Page %d</h1>\n", n, n)
	for link := range 20 {
		fmt.Fprintf(&b, "<p><a href=\"%05d.html\">page</a></p>\n", (n+link*link)%servedRecords)
	}
	text := make([]byte, servedSize-b.Len())
	random.Read(text)
	for i := range text {
		text[i] = letters[text[i]&63]
	}
	b.Write(text)
	return b.Bytes()
}

// A serving is a running process of fetch serve.
type serving struct {
	cmd  *exec.Cmd
	addr string
	base string // path of the archive
}

// startServe starts fetch serve and waits until the server listens.
func startServe(b *block, program, archive string, flags ...string) *serving {
	ctx, cancel := context.WithTimeout(b.ctx, runTime)
	cmd := exec.CommandContext(ctx, program, append(append([]string{"--no-config", "serve", "--listen", "127.0.0.1:0"}, flags...), archive)...)
	out, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		b.Fatalf("bench: %v", err)
	}
	b.Cleanup(func() {
		cancel()
		cmd.Wait() // stop has waited, or the process was killed
	})
	var line, url string
	lines, ok := bufio.NewReader(out), false
	for err == nil && !ok { // other notes may come first
		line, err = lines.ReadString('\n')
		_, url, ok = strings.Cut(strings.TrimSpace(line), "http://")
	}
	if !ok {
		b.Fatalf("bench: fetch serve: %q, %v", line, err)
	}
	return &serving{cmd, strings.TrimSuffix(url, "/"), "/archive/" + filepath.Base(archive) + "/"}
}

// stop ends the process and returns its peak memory.
func (s *serving) stop(b *block) float64 {
	used, err := peakOf(s.cmd.Process.Pid)
	if err == nil {
		err = s.cmd.Process.Signal(syscall.SIGTERM)
	}
	if err == nil {
		err = s.cmd.Wait()
	}
	if err != nil {
		b.Fatalf("bench: fetch serve: %v", err)
	}
	return used
}

func (s *serving) bytesPath(n int) string { return s.base + servedDate + "id_/" + servedURL(n) }
func (s *serving) pagePath(n int) string  { return s.base + servedDate + "/" + servedURL(n) }

// get requests a page and checks that the response contains the given text.
func (s *serving) get(b *block, path, text string) {
	c, err := dialClient(s.addr)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	defer c.Close()
	body, _, err := c.get(path)
	if err != nil || !bytes.Contains(body, []byte(text)) {
		b.Fatalf("bench: %s: %v, %q", path, err, body)
	}
}

// firstByte returns the median time from a request for a page to the first byte
// of the response. The pages are spread over the records of the archive.
func (s *serving) firstByte(b *block, requests, records int, path func(n int) string) float64 {
	c, err := dialClient(s.addr)
	if err != nil {
		b.Fatalf("bench: %v", err)
	}
	defer c.Close()
	var all []float64
	for i := range requests {
		n := i * 7919 % records
		body, first, err := c.get(path(n))
		if err != nil || !bytes.Contains(body, fmt.Appendf(nil, "<h1>Page %d</h1>", n)) {
			b.Fatalf("bench: page %d: %v, %q", n, err, body)
		}
		all = append(all, first.Seconds())
	}
	return middle(all[len(all)/2:]) // the first half warms up the server
}

// load sends 20,000 requests from parallel clients and returns the time in
// seconds. Each client has its own connection. The clients request pages 0 to
// objects-1 in turn and check that each response is the page.
func load(b *block, addr string, clients, objects int, path func(n int) string) float64 {
	const requests = 20_000
	connections := make([]*client, clients)
	for i := range connections {
		c, err := dialClient(addr)
		if err != nil {
			b.Fatalf("bench: client %d: %v", i, err)
		}
		defer c.Close()
		connections[i] = c
	}
	began := time.Now()
	results := make(chan error, clients)
	for i, c := range connections {
		go func() {
			var err error
			for k := i; k < requests && err == nil; k += clients {
				var body []byte
				n := k % objects
				if body, _, err = c.get(path(n)); err == nil && !bytes.Contains(body[:min(len(body), 2<<10)], fmt.Appendf(nil, "<h1>Page %d</h1>", n)) {
					err = fmt.Errorf("page %d: %.200q", n, body)
				}
			}
			results <- err
		}()
	}
	for range clients {
		if err := <-results; err != nil {
			b.Fatalf("bench: %s: %v", addr, err)
		}
	}
	return time.Since(began).Seconds()
}

// A client sends requests over one connection. It replaces the client of
// net/http, which uses more processor time and would slow down the server on
// the same machine.
type client struct {
	net.Conn
	in   *bufio.Reader
	body []byte
}

func dialClient(addr string) (*client, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	return &client{Conn: conn, in: bufio.NewReaderSize(conn, 4<<10)}, err
}
