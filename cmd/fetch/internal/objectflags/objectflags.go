// Package objectflags has the flags of the commands that retrieve objects, such
// as fetch, fetch ls and fetch info.
package objectflags

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/command"
	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/glob"
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/cmd/fetch/internal/verification"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/schemes"
	"github.com/anyurl/fetch/uri"
)

// Flags are the flags of commands that retrieve single objects, such as
// fetch ls.
type Flags struct {
	Body      bodyFlags
	File      fileFlags
	Verify    verification.Flags
	Sources   sourceFlags
	Input     inputFlags
	Request   requestFlags
	Query     queryFlags
	Redirects clientflags.RedirectFlags
	Progress  console.ProgressFlags
	HTTP      clientflags.HTTPObjectFlags
	ftp       clientflags.FTPObjectFlags
	gopher    gopherFlags
	Mail      clientflags.MailObjectFlags
	session   sessionFlags
	Client    clientflags.Flags
}

func (f *Flags) Register(s *options.Set) {
	f.Body.Register(s)
	f.File.Register(s)
	f.Verify.Register(s)
	f.Sources.Register(s)
	f.Input.Register(s)
	f.Request.Register(s)
	f.Query.Register(s)
	f.Redirects.Register(s)
	f.Client.Register(s)
	f.HTTP.Register(s)
	f.ftp.Register(s)
	f.gopher.Register(s)
	f.Mail.Register(s)
	f.session.Register(s)
	f.Progress.Register(s)
	curlFlags{}.Register(s)
	p := s.Section("Output")
	p.Func("directory-prefix", "like --output-dir and --create-dirs, as in wget", func(dir string) error {
		f.Body.OutputDir, f.File.CreateDirs = dir, true
		return nil
	})
	p.Lookup("directory-prefix").Hidden = true
}

// Schemes returns the options of all URL schemes. If listing is true, a
// newsgroup is retrieved as a listing. If native is true, listings keep the
// format of the server.
func (f *Flags) Schemes(s *console.Streams, listing, native bool) (o schemes.Options, err error) {
	if o, err = f.Client.Schemes(); err != nil {
		return o, err
	}
	o.HTTP.Legacy.Raw = f.HTTP.Raw
	f.ftp.Apply(&o.FTP, !f.HTTP.Raw && !native)
	if err = f.Mail.Apply(&o.NNTP, listing); err != nil {
		return o, err
	}
	o.Mail.Mbox = f.Mail.Mailboxes() && !listing
	if o.Gopher, err = f.gopher.options(s, f.File.Strict); err != nil {
		return o, err
	}
	o.Gemini.Strict, o.HTTP.Strict = f.File.Strict, f.File.Strict
	o.Telnet, err = f.session.options()
	return o, err
}

// Sums reports whether a SHA-256 digest of each body is required.
func (f *Flags) Sums() bool { return f.Body.Meta != "" }

// Unmodified reports whether the body is written exactly as received.
func (f *Flags) Unmodified() bool { return !f.Body.Include && !f.Mail.Converts() }

// State returns the size and the validator of the body of resp. They are
// unknown if a flag modifies the body.
func (f *Flags) State(req *fetch.Request, resp *fetch.Response) save.State {
	if !f.Unmodified() {
		return save.State{Size: -1}
	}
	return save.StateOf(req, resp)
}

// ValidateFiles returns an error if --remove-on-error is combined with -C, which
// needs the partial file of an earlier attempt.
func (f *Flags) ValidateFiles() error {
	if f.File.removeFailed && f.Body.ContinueAt != "" {
		return fetch.Usage.Errorf("--remove-on-error excludes -C, which keeps the partial file to resume")
	}
	return nil
}

// bodyFlags are the flags that select the output of bodies, such as -o, -C and
// --meta.
type bodyFlags struct {
	Output           []string
	RemoteName       bool
	RemoteHeaderName bool
	OutputDir        string
	Names            nameFlags
	Include          bool
	ContinueAt       string
	Meta             string
	WARCFile         string
	WriteOut         string
	Render           string // "", rendering.HTML or rendering.Text
}

func (f *bodyFlags) Register(s *options.Set) {
	p := s.Section("Output")
	p.FuncP("out-null", "", "discard the body, like -o with the null device", func(string) error {
		f.Output = append(f.Output, os.DevNull)
		return nil
	})
	p.Lookup("out-null").NoOptDefVal = "true"
	p.Lookup("out-null").Hidden = true
	p.StringArrayVarP(&f.Output, "output", "o", nil, "write to `FILE` instead of standard output (repeat for more URLs)")
	p.BoolVarP(&f.RemoteName, "remote-name", "O", false, "write to a file named after the last part of the URL path")
	p.BoolVarP(&f.RemoteHeaderName, "remote-header-name", "J", false, "with -O, use the file name that the server sends")
	command.RegisterOutputDir(p, &f.OutputDir, "write files to `DIR` (named as with -O unless -o is set)")
	f.Names.Register(s)
	p.StringVarP(&f.ContinueAt, "continue-at", "C", "", "resume at byte `OFFSET`, or where the last attempt stopped (-)")
	p.BoolP("no-buffer", "N", true, "do not buffer the output (default)")
	p.Lookup("no-buffer").Hidden = true
	p.BoolVarP(&f.Include, "include", "i", false, "write the response header before the body")
	p.BoolVar(&f.Include, "show-headers", false, "other name of --include")
	p.Lookup("show-headers").Hidden = true
	p.StringVarP(&f.WriteOut, "write-out", "w", "", "print `FORMAT` after each URL, with variables such as %{http_code}")
	p.StringVar(&f.WARCFile, "warc-file", "", "record requests and responses in `FILE` (.warc, .warc.gz or .warc.zst)")
	p.StringVar(&f.Render, "render", "", "write web pages as Chromium shows them, as `FORM` (=html or =text)")
	p.Lookup("render").NoOptDefVal = "html"
	options.SetValues(p.Lookup("render"), "html", "text")
	p.StringVar(&f.Meta, "meta", "", "append a JSON record of each transfer to `FILE`")
}

// ToStdout reports whether the body of a URL is written to standard output. The
// index is the position of the URL on the command line, starting at 0.
func (f *bodyFlags) ToStdout(index int) bool {
	if index < len(f.Output) {
		return f.Output[index] == "-"
	}
	return !f.RemoteName && !f.Names.Directories() && (f.OutputDir == "" || len(f.Output) > 0)
}

// AnyToStdout reports whether any body may be written to standard output.
func (f *bodyFlags) AnyToStdout() bool {
	for i := range len(f.Output) + 1 {
		if f.ToStdout(i) {
			return true
		}
	}
	return false
}

// FileName returns the name of the output file for a URL, or "" for standard
// output. The name depends on the flags, on the URL, and on the position of the
// URL on the command line. In a name of -o, #1 is replaced by the first of the
// values of the globs in the URL.
func (f *bodyFlags) FileName(u uri.URI, index int, values []string) (name string, err error) {
	switch {
	case f.ToStdout(index):
		return "", nil
	case index < len(f.Output):
		if name = glob.Substitute(f.Output[index], values); name == "" {
			return "", fetch.Usage.Errorf("-o requires a file name")
		}
	default:
		if err := f.Names.validate(); err != nil {
			return "", err
		}
		if name, err = f.Names.of(u); err != nil {
			return "", fetch.Usage.Errorf("the path of the URL has no file name: use -o FILE, such as -o index.html")
		}
	}
	if f.OutputDir != "" && !strings.HasPrefix(name, "/") {
		name = filepath.Join(f.OutputDir, name)
	}
	return name, nil
}

// Offset returns the first byte to download, as selected by -C. If auto is
// true, the download resumes at the end of the partial file.
func (f *bodyFlags) Offset() (offset int64, auto bool, err error) {
	switch f.ContinueAt {
	case "":
		return 0, false, nil
	case "-":
		return 0, true, nil
	}
	offset, err = strconv.ParseInt(f.ContinueAt, 10, 64)
	if err != nil || offset < 0 {
		return 0, false, fetch.Usage.Errorf("-C requires an offset or -, not %q", f.ContinueAt)
	}
	return offset, false, nil
}

// fileFlags are the flags that control how output files are created.
type fileFlags struct {
	CreateDirs   bool
	NoClobber    bool
	SkipExisting bool
	RemoteTime   bool
	Timestamping bool
	Attributes   bool
	removeFailed bool
	Strict       bool
}

func (f *fileFlags) Register(s *options.Set) {
	p := s.Section("Output")
	p.BoolVar(&f.CreateDirs, "create-dirs", false, "create missing directories of output files")
	p.BoolVar(&f.NoClobber, "no-clobber", false, "do not overwrite files; add a number to the name instead")
	p.BoolVar(&f.SkipExisting, "skip-existing", false, "skip URLs whose output file already exists")
	p.BoolVarP(&f.RemoteTime, "remote-time", "R", false, "set the file time to the time reported by the server")
	p.BoolVar(&f.Timestamping, "timestamping", false, "retrieve only objects newer than the file, and set its time")
	p.BoolVar(&f.Attributes, "xattr", false, "store the URL and the media type in extended attributes of the file")
	p.BoolVar(&f.removeFailed, "remove-on-error", false, "keep no partial files (default without -C)")
	p.Lookup("remove-on-error").Hidden = true
	p.BoolVar(&f.Strict, "strict", false, "fail if a download cannot be verified as complete")
}

// inputFlags are the flags for the list of URLs and for parallel downloads.
type inputFlags struct {
	File        string
	urls        []string // URLs of --url
	Configured  []string // URLs in the files of -K
	GlobOff     bool
	Parallel    bool
	ParallelMax int
}

func (f *inputFlags) Register(s *options.Set) {
	p := s.Section("URLs")
	p.StringArrayVar(&f.urls, "url", nil, "retrieve `URL`, as an argument without a flag")
	command.RegisterInput(p, &f.File, &f.GlobOff)
	p.BoolVarP(&f.Parallel, "parallel", "Z", false, "fetch URLs in parallel (standard output stays in order)")
	p.IntVar(&f.ParallelMax, "parallel-max", 50, "with -Z, fetch at most `N` URLs in parallel")
}

// Count returns the number of URLs from --url and from the files of -K.
func (f *inputFlags) Count() int { return len(f.urls) + len(f.Configured) }

// requestFlags are the flags that change the request, such as -I and -r.
type requestFlags struct {
	Head         bool
	ByteRange    string
	TimeCond     string
	Segments     int
	Robots       bool
	NoFail       bool
	fail         bool // ignored, because errors are reported by default
	FailWithBody bool
}

func (f *requestFlags) Register(s *options.Set) {
	p := s.Section("Requests")
	p.BoolVarP(&f.Head, "head", "I", false, "retrieve only the response header")
	p.StringVarP(&f.ByteRange, "range", "r", "", "retrieve only the bytes in `RANGE` (0-99, 100- or -10)")
	p.StringVarP(&f.TimeCond, "time-cond", "z", "", "`DATE|FILE`: retrieve only objects newer than a date or a file")
	p.IntVar(&f.Segments, "segments", 1, "download each large file in `N` parallel segments (at most 16)")
	p.BoolVar(&f.Robots, "robots", false, "obey robots.txt (http, gopher)")
	p.BoolVar(&f.NoFail, "no-fail", false, "write the error page of the server and exit with code 0")
	p.BoolVarP(&f.fail, "fail", "f", true, "exit with an error if the server reports one (default)")
	p.BoolVar(&f.FailWithBody, "fail-with-body", false, "write the error page of the server and exit with an error")
	p.Lookup("fail").Hidden = true
}

// MaxSegments limits the number of parallel requests for one file.
const MaxSegments = 16
