package download

import (
	"errors"

	"github.com/anyurl/fetch/cmd/fetch/internal/clientflags"
	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/save"
)

// A receiver implements [save.Sink]. It writes a body to the sink of a job.
type receiver struct{ job *Job }

func (r receiver) State() save.State { return r.job.Sink.State() }
func (r receiver) Restarts() bool    { return r.job.Sink.Restarts() }

// Receive writes the body of resp to the sink. It also verifies --checksum and
// commits the file.
func (r receiver) Receive(req *fetch.Request, resp *fetch.Response) error {
	j, out := r.job, r.job.Sink
	if err := out.Begin(j.flags.State(req, resp)); err != nil {
		return err
	}
	if err := j.writeBody(out, req, resp); err != nil {
		return err
	}
	if err := j.dumpTrailer(resp); err != nil {
		return err
	}
	if j.flags.File.RemoteTime {
		out.SetTime(resp.Time)
	}
	if j.flags.Body.Checksum != nil {
		if err := j.flags.Body.Verify(out.Sum()); err != nil {
			out.Abort()
			return err
		}
	}
	var fault error
	if j.flags.Request.FailWithBody {
		fault = resp.Fault
	}
	return errors.Join(fault, out.Commit())
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
	return j.flags.DumpHeader(j.Output, text, true)
}
