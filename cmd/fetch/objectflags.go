package main

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/glob"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes"
)

// objectFlags are the flags of commands that retrieve single objects, such as
// fetch ls.
type objectFlags struct {
	body      bodyFlags
	file      fileFlags
	input     inputFlags
	request   requestFlags
	query     queryFlags
	redirects clientflags.RedirectFlags
	progress  console.ProgressFlags
	http      clientflags.HTTPObjectFlags
	ftp       clientflags.FTPObjectFlags
	gopher    gopherFlags
	mail      clientflags.MailObjectFlags
	session   sessionFlags
	client    clientflags.Flags
}

func (f *objectFlags) Register(s *options.Set) {
	f.body.Register(s)
	f.file.Register(s)
	f.input.Register(s)
	f.request.Register(s)
	f.query.Register(s)
	f.redirects.Register(s)
	f.client.Register(s)
	f.http.Register(s)
	f.ftp.Register(s)
	f.gopher.Register(s)
	f.mail.Register(s)
	f.session.Register(s)
	f.progress.Register(s)
	curlFlags{}.Register(s)
	p := s.Section("Output")
	p.Func("directory-prefix", "like --output-dir and --create-dirs, as in wget", func(dir string) error {
		f.body.outputDir, f.file.createDirs = dir, true
		return nil
	})
	p.Lookup("directory-prefix").Hidden = true
}

// schemes returns the options of all URL schemes. If listing is true, a
// newsgroup is retrieved as a listing. If native is true, listings keep the
// format of the server.
func (f *objectFlags) schemes(s *console.Streams, listing, native bool) (o schemes.Options, err error) {
	if o, err = f.client.Schemes(); err != nil {
		return o, err
	}
	o.HTTP.Legacy.Raw = f.http.Raw
	f.ftp.Apply(&o.FTP, !f.http.Raw && !native)
	if err = f.mail.Apply(&o.NNTP, listing); err != nil {
		return o, err
	}
	o.Mail.Mbox = f.mail.Mailboxes() && !listing
	if o.Gopher, err = f.gopher.options(s, f.file.strict); err != nil {
		return o, err
	}
	o.Gemini.Strict, o.HTTP.Strict = f.file.strict, f.file.strict
	o.Telnet, err = f.session.options()
	return o, err
}

// sums reports whether a SHA-256 digest of each body is required.
func (f *objectFlags) sums() bool { return f.body.checksum != nil || f.body.meta != "" }

// unmodified reports whether the body is written exactly as received.
func (f *objectFlags) unmodified() bool { return !f.body.include && !f.mail.Converts() }

// state returns the size and the validator of the body of resp. They are
// unknown if a flag modifies the body.
func (f *objectFlags) state(req *fetch.Request, resp *fetch.Response) save.State {
	if !f.unmodified() {
		return save.State{Size: -1}
	}
	return save.StateOf(req, resp)
}

// bodyFlags are the flags that select the output of bodies, such as -o, -C and
// --meta.
type bodyFlags struct {
	output           []string
	remoteName       bool
	remoteHeaderName bool
	outputDir        string
	include          bool
	continueAt       string
	checksum         checksum
	meta             string
	warcFile         string
	writeOut         string
}

func (f *bodyFlags) Register(s *options.Set) {
	p := s.Section("Output")
	p.StringArrayVarP(&f.output, "output", "o", nil, "write to `FILE` instead of standard output (repeat for more URLs)")
	p.BoolVarP(&f.remoteName, "remote-name", "O", false, "write to a file named after the last part of the URL path")
	p.BoolVarP(&f.remoteHeaderName, "remote-header-name", "J", false, "with -O, use the file name that the server sends")
	command.RegisterOutputDir(p, &f.outputDir, "write files to `DIR` (named as with -O unless -o is set)")
	p.StringVarP(&f.continueAt, "continue-at", "C", "", "resume at byte `OFFSET`, or where the last attempt stopped (-)")
	p.BoolP("no-buffer", "N", true, "do not buffer the output (default)")
	p.Lookup("no-buffer").Hidden = true
	p.BoolVarP(&f.include, "include", "i", false, "write the response header before the body")
	p.Var(&f.checksum, "checksum", "`sha256=HEX`: fail unless the body has this SHA-256 digest")
	p.StringVarP(&f.writeOut, "write-out", "w", "", "print `FORMAT` after each URL, with variables such as %{http_code}")
	p.StringVar(&f.warcFile, "warc-file", "", "record all requests and responses in the WARC `FILE` (.warc or .warc.gz)")
	p.StringVar(&f.meta, "meta", "", "append a JSON record of each transfer to `FILE`")
}

// toStdout reports whether the body of a URL is written to standard output. The
// index is the position of the URL on the command line, starting at 0.
func (f *bodyFlags) toStdout(index int) bool {
	if index < len(f.output) {
		return f.output[index] == "-"
	}
	return !f.remoteName && (f.outputDir == "" || len(f.output) > 0)
}

// anyToStdout reports whether any body may be written to standard output.
func (f *bodyFlags) anyToStdout() bool {
	for i := range len(f.output) + 1 {
		if f.toStdout(i) {
			return true
		}
	}
	return false
}

// fileName returns the name of the output file for a URL, or "" for standard
// output. The name depends on the flags, on the path of the URL, and on the
// position of the URL on the command line. In a name of -o, #1 stands for the
// first of the values of the globs in the URL.
func (f *bodyFlags) fileName(path string, index int, values []string) (name string, err error) {
	switch {
	case f.toStdout(index):
		return "", nil
	case index < len(f.output):
		if name = glob.Substitute(f.output[index], values); name == "" {
			return "", fetch.Usage.Errorf("-o requires a file name")
		}
	default:
		if name, err = save.Name(path); err != nil {
			return "", fetch.Usage.Errorf("the path of the URL has no file name: use -o FILE, such as -o index.html")
		}
	}
	if f.outputDir != "" && !strings.HasPrefix(name, "/") {
		name = filepath.Join(f.outputDir, name)
	}
	return name, nil
}

// offset returns the first byte to download, as selected by -C. If auto is
// true, the download resumes at the end of the partial file.
func (f *bodyFlags) offset() (offset int64, auto bool, err error) {
	switch f.continueAt {
	case "":
		return 0, false, nil
	case "-":
		return 0, true, nil
	}
	offset, err = strconv.ParseInt(f.continueAt, 10, 64)
	if err != nil || offset < 0 {
		return 0, false, fetch.Usage.Errorf("-C requires an offset or -, not %q", f.continueAt)
	}
	return offset, false, nil
}

// verify returns an error if --checksum is set and differs from sum, the
// SHA-256 digest of the body. A nil sum is also an error.
func (f *bodyFlags) verify(sum []byte) error {
	switch {
	case f.checksum == nil:
		return nil
	case sum == nil:
		return fetch.Unsupported.Errorf("--checksum cannot verify a partial download")
	case string(sum) != string(f.checksum):
		return fetch.Mismatch.Errorf("the body has the digest sha256=%x, but --checksum requires sha256=%x", sum,
			[]byte(f.checksum))
	}
	return nil
}

// A checksum is a SHA-256 digest, or nil.
type checksum []byte

func (c *checksum) String() string {
	if *c == nil {
		return ""
	}
	return "sha256=" + hex.EncodeToString(*c)
}

func (c *checksum) Set(text string) error {
	digits, ok := strings.CutPrefix(text, "sha256=")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil || len(b) != sha256.Size {
		return fetch.Usage.Errorf("not sha256= and 64 hexadecimal digits: %q", text)
	}
	*c = b
	return nil
}

func (*checksum) Type() string { return "sha256=HEX" }

// fileFlags are the flags that control how output files are created.
type fileFlags struct {
	createDirs   bool
	noClobber    bool
	skipExisting bool
	remoteTime   bool
	strict       bool
}

func (f *fileFlags) Register(s *options.Set) {
	p := s.Section("Output")
	p.BoolVar(&f.createDirs, "create-dirs", false, "create missing directories of output files")
	p.BoolVar(&f.noClobber, "no-clobber", false, "do not overwrite files; add a number to the name instead")
	p.BoolVar(&f.skipExisting, "skip-existing", false, "skip URLs whose output file already exists")
	p.BoolVarP(&f.remoteTime, "remote-time", "R", false, "set the file time to the time reported by the server")
	p.BoolVar(&f.strict, "strict", false, "fail if a download cannot be verified as complete")
}

// inputFlags are the flags for the list of URLs and for parallel downloads.
type inputFlags struct {
	file        string
	urls        []string // URLs of --url
	configured  []string // URLs in the files of -K
	globOff     bool
	parallel    bool
	parallelMax int
}

func (f *inputFlags) Register(s *options.Set) {
	p := s.Section("URLs")
	p.StringArrayVar(&f.urls, "url", nil, "retrieve `URL`, as an argument without a flag")
	command.RegisterInput(p, &f.file, &f.globOff)
	p.BoolVarP(&f.parallel, "parallel", "Z", false, "fetch URLs in parallel (standard output stays in order)")
	p.IntVar(&f.parallelMax, "parallel-max", 50, "with -Z, fetch at most `N` URLs in parallel")
}

// count returns the number of URLs from --url and from the files of -K.
func (f *inputFlags) count() int { return len(f.urls) + len(f.configured) }

// requestFlags are the flags that change the request, such as -I and -r.
type requestFlags struct {
	head         bool
	byteRange    string
	timeCond     string
	segments     int
	robots       bool
	noFail       bool
	fail         bool // ignored, because errors are reported by default
	failWithBody bool
}

func (f *requestFlags) Register(s *options.Set) {
	p := s.Section("Requests")
	p.BoolVarP(&f.head, "head", "I", false, "retrieve only the response header")
	p.StringVarP(&f.byteRange, "range", "r", "", "retrieve only the bytes in `RANGE` (0-99, 100- or -10)")
	p.StringVarP(&f.timeCond, "time-cond", "z", "", "`DATE|FILE`: retrieve only objects newer than a date or a file")
	p.IntVar(&f.segments, "segments", 1, "download each http file in `N` parallel segments (at most 16)")
	p.BoolVar(&f.robots, "robots", false, "obey robots.txt (http, gopher)")
	p.BoolVar(&f.noFail, "no-fail", false, "write the error page of the server and exit with code 0")
	p.BoolVarP(&f.fail, "fail", "f", true, "exit with an error if the server reports one (default)")
	p.BoolVar(&f.failWithBody, "fail-with-body", false, "write the error page of the server and exit with an error")
	p.Lookup("fail").Hidden = true
}

// maxSegments limits the number of parallel requests for one file.
const maxSegments = 16
