package transfer

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/cmd/fetch/internal/terminal"
	"github.com/anyurl/fetch/uri"
)

// targets collects the text of -w for each stream and file to which it is
// written.
type targets struct {
	*bytes.Buffer // the current target

	text, errorText bytes.Buffer
	files           []*fileTarget
}

// A fileTarget is the text for one %output{FILE}.
type fileTarget struct {
	bytes.Buffer
	name  string
	flags int // of os.OpenFile
}

func newTargets() *targets {
	t := &targets{}
	t.Buffer = &t.text
	return t
}

// choose sets the target of the text that follows, if name is the name of a
// target. The file >>NAME is appended to, as in curl.
func (t *targets) choose(name string) bool {
	file, isFile := strings.CutPrefix(name, "output ")
	switch {
	case name == "stderr":
		t.Buffer = &t.errorText
	case name == "stdout":
		t.Buffer = &t.text
	case isFile:
		f := &fileTarget{name: file, flags: os.O_TRUNC}
		if appended, ok := strings.CutPrefix(file, ">>"); ok {
			f.name, f.flags = appended, os.O_APPEND
		}
		t.files = append(t.files, f)
		t.Buffer = &f.Buffer
	default:
		return false
	}
	return true
}

// write writes the text to all targets.
func (t *targets) write(output, errOutput io.Writer) error {
	errs := []error{terminal.Write(errOutput, t.errorText.Bytes()), terminal.Write(output, t.text.Bytes())}
	for _, f := range t.files {
		errs = append(errs, f.write())
	}
	return errors.Join(errs...)
}

// write writes the text to the file. If the file is a terminal, write escapes the
// bytes of the server.
func (f *fileTarget) write() error {
	if done, err := terminal.WriteTo(f.name, f.Bytes()); done {
		return err
	}
	file, err := os.OpenFile(f.name, os.O_WRONLY|os.O_CREATE|f.flags, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(f.Bytes())
	return errors.Join(err, file.Close())
}

// urlPart returns a part of the requested URL, if kind is url, or of the
// effective URL, if kind is urle. The result ok is false if there is no such
// part. The value is nil if the URL does not have the part.
func (o *WriteOut) urlPart(kind, part string) (value any, ok bool) {
	text := o.requestedURL()
	if effective, has := o.variables()["url_effective"].(string); kind == "urle" && has {
		text = effective
	}
	u, err := uri.ParseZone(text)
	if err != nil {
		return nil, kind == "url" || kind == "urle"
	}
	p := u.Parts()
	user, _, _ := u.User()
	if p.Path == "" && p.HasAuthority {
		p.Path = "/"
	}
	if port, has := uri.DefaultPort(u.Scheme()); has && p.Port == "" {
		p.Port = strconv.Itoa(int(port))
	}
	parts := map[string]string{"scheme": u.Scheme(), "host": u.Host(), "path": p.Path, "query": p.Query,
		"fragment": p.Fragment, "port": p.Port, "user": user}
	value, ok = parts[part]
	return value, ok && (kind == "url" || kind == "urle")
}

// certificates encodes certificates in PEM.
func certificates(chain []*x509.Certificate) string {
	var b strings.Builder
	for _, c := range chain {
		pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	}
	return b.String()
}
