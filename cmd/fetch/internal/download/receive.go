package download

import (
	"errors"
	"path/filepath"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/cmd/fetch/internal/sink"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
	"github.com/anyurl/fetch/verify"
)

// A receiver implements [save.Sink]. It writes a body to the sink of a job.
type receiver struct{ job *Job }

func (r receiver) State() save.State { return r.job.Sink.State() }
func (r receiver) Restarts() bool    { return r.job.Sink.Restarts() }

// Receive writes the body of resp to the sink. It also
// commits the file, which verifies it.
func (r receiver) Receive(req *fetch.Request, resp *fetch.Response) error {
	j, out := r.job, r.job.Sink
	if j.omitsFile(resp) {
		j.Note("%s is not written: the server has no object (status 204)", out.Name())
		return nil
	}
	state := j.flags.State(req, resp)
	if err := out.Begin(state); err != nil {
		return adviseDirectory(err, filepath.Join(j.flags.Body.OutputDir, ".")) // a missing directory fails here with -J
	}
	if j.flags.Unmodified() {
		if err := out.VerifyRest(state, resp.Digest); err != nil {
			return err
		}
	}
	if err := j.writeBody(out, req, resp); err != nil {
		return out.DiscardMismatch(err)
	}
	if err := j.dumpTrailer(resp); err != nil {
		return err
	}
	if j.flags.File.RemoteTime || j.flags.File.Timestamping {
		out.SetTime(resp.Time)
	}
	var fault error
	if j.flags.Request.FailWithBody {
		fault = resp.Fault
	}
	err := out.Commit()
	if err == nil {
		j.noteVerified()
	}
	return errors.Join(fault, err)
}

// omitsFile reports whether the output file is not written because the server
// has no object. An existing file must not become empty. If the file is
// verified, the checks of an empty file decide.
func (j *Job) omitsFile(resp *fetch.Response) bool {
	return resp.NoContent() && len(j.checks) == 0 && j.Sink.Name() != sink.StandardOutput &&
		!j.flags.Body.Include && !j.flags.Request.Head
}

// noteVerified prints the checks that have succeeded if -v is set, and a note if
// none of them proves the origin of the file.
func (j *Job) noteVerified() {
	for _, c := range j.checks {
		if j.Verbose {
			j.PrintVerbose("* verified: " + c.String())
		}
	}
	if text := verify.Weigh(j.checks); text != "" {
		j.Note("%s", text)
	}
}

// dumpTrailer appends the trailer of resp, if it has one, to the file of -D.
func (j *Job) dumpTrailer(resp *fetch.Response) error {
	if resp.Trailer == nil {
		return nil
	}
	text := clientflags.FieldLines(resp.Trailer())
	if len(text) == 0 {
		return nil
	}
	return j.dumpHeader(j.Output, text)
}
