package download

import (
	"errors"

	"github.com/anyurl/fetch/cmd/fetch/internal/console"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
)

// notePartialFile prints a note about the partial file of a transfer that failed
// with err: that the same command resumes the transfer, that -C - could not
// keep the file, or that an interrupt has removed the file. A note about one of
// several parallel transfers names the file.
func (j *Job) notePartialFile(err error) {
	kept := j.Sink.State()
	if err == nil || kept.Offset == 0 || j.Sink.Name() == sink.StandardOutput {
		return
	}
	resumable, resumes := kept.Validator != "", j.flags.Body.ContinueAt == "-"
	of := ""
	if j.flags.Input.Parallel {
		of = " of " + j.Sink.Name()
	}
	switch {
	case resumable && resumes:
		j.Note("%d bytes%s are saved; run the same command again to resume", kept.Offset, of)
	case !resumes && !errors.Is(err, fetch.Canceled):
	case resumable:
		j.Note("the partial file%s is removed (%s); -C - keeps it and resumes", of, console.SizeText(kept.Offset))
	default:
		j.Note("the partial file%s is removed (%s)%s", of, console.SizeText(kept.Offset), j.resumeProblem())
	}
}

// resumeProblem returns the reason why the body of the last response cannot be
// resumed, as the end of a note. It returns "" if the reason is unknown.
func (j *Job) resumeProblem() string {
	switch {
	case j.Resp == nil || j.Resp.Validator != "":
		return ""
	case j.Client.Scheme(j.Resp.URL.Scheme()).Traits.Web:
		return ": without a strong ETag or an old Last-Modified, its bytes could belong to another version than the rest"
	}
	return ": the server does not identify the version of the object"
}

// isFile reports whether out is a regular file, whose data can be saved after an
// interrupt. Writes to a pipe or a device can block forever.
func isFile(out sink.Sink) bool {
	if f, ok := out.(interface{ Device() bool }); ok && f.Device() {
		return false
	}
	return out.Name() != sink.StandardOutput
}
