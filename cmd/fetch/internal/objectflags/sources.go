package objectflags

import (
	"github.com/anyurl/fetch/cmd/fetch/internal/options"
	"github.com/anyurl/fetch/fetch"
)

// sourceFlags are the flags for files with several mirrors.
type sourceFlags struct {
	Metalink bool
	Mirrors  []string
}

// sourceNames are the names of the flags, separated by spaces.
const sourceNames = "metalink mirror-url"

func (f *sourceFlags) Register(s *options.Set) {
	p := s.Section("Mirrors")
	p.BoolVar(&f.Metalink, "metalink", false, "use the mirrors that the Metalink document or server at URL names")
	p.StringArrayVar(&f.Mirrors, "mirror-url", nil, "download from `URL` too, which is a mirror of the same file")
}

func (f *sourceFlags) IsSet() bool { return f.Metalink || len(f.Mirrors) > 0 }

// CheckRender returns an error if --render is combined with flags for the bytes
// of the server.
func (f *Flags) CheckRender() error {
	switch {
	case f.Body.Render == "":
		return nil
	case f.Body.Render != "html" && f.Body.Render != "text":
		return fetch.Usage.Errorf("--render is html or text, not %q", f.Body.Render)
	case f.Request.ByteRange != "" || f.Body.ContinueAt != "" || f.Request.Head || f.Request.Segments > 1 || f.Sources.IsSet() || f.Verify.IsSet():
		return fetch.Usage.Errorf("--render writes no bytes of the server, so it excludes -r, -C, -I, --segments, --metalink and checksums")
	case f.Body.WARCFile != "":
		return fetch.Usage.Errorf("--warc-file excludes --render: use fetch mirror --browser --page --warc")
	}
	return nil
}

// CheckSources returns an error if the flags do not fit together. The parameter
// urls is the number of URLs, or -1 if it is unknown.
func (f *Flags) CheckSources(urls int) error {
	switch {
	case !f.Sources.IsSet():
		return nil
	case len(f.Sources.Mirrors) > 0 && urls != 1:
		return fetch.Usage.Errorf("--mirror-url is a mirror of one file: use it with one URL")
	case f.Request.ByteRange != "" || f.Body.ContinueAt != "" && f.Body.ContinueAt != "-" || f.Request.Head || f.Body.Include:
		return fetch.Usage.Errorf("--metalink and --mirror-url download complete files, so they exclude -r, -C OFFSET, -I and -i")
	case f.Body.WARCFile != "":
		return fetch.Usage.Errorf("--warc-file records complete responses, so it excludes --metalink and --mirror-url")
	case f.Body.RemoteHeaderName:
		return fetch.Usage.Errorf("-J excludes --metalink and --mirror-url, because each mirror could send another name")
	}
	return nil
}
