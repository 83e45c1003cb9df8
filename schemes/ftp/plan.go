package ftp

import (
	"cmp"
	"strconv"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/fetch/scheme"
)

// plan returns the commands for a request on a new control connection. An
// existing session needs fewer commands.
func (o *Options) plan(req *fetch.Request, implicit bool) ([]scheme.Step, error) {
	p, err := o.parsePath(req.URL)
	if err != nil {
		return nil, err
	}
	steps, err := o.planLogin(req.Auth, implicit)
	if err != nil {
		return nil, err
	}
	for _, dir := range p.dirs {
		steps = append(steps, scheme.Step{Verb: "CWD", Arg: dir})
	}
	switch {
	case req.Op == fetch.Stat && p.list:
		if p.name != "" {
			steps = append(steps, scheme.Step{Verb: "CWD", Arg: p.name})
		}
	case req.Op == fetch.Stat:
		size := scheme.Step{Verb: "SIZE", Arg: p.name, Else: "MLST"}
		steps = append(steps, typeStep(p), size, scheme.Step{Verb: "MDTM", Arg: p.name})
	case p.list:
		steps = append(steps, typeStep(p), o.dataStep(), scheme.Step{Verb: "MLSD", Arg: p.argument(), Else: "LIST"})
		if o.NamesOnly {
			steps[len(steps)-1] = scheme.Step{Verb: "NLST", Arg: p.argument()}
		}
	default:
		steps = append(steps, typeStep(p), o.dataStep())
		if first := req.Range.First; first > 0 && p.kind == "I" {
			steps = append(steps, scheme.Step{Verb: "REST", Arg: strconv.FormatInt(first, 10)})
		}
		steps = append(steps, scheme.Step{Verb: "RETR", Arg: p.name})
	}
	return steps, nil
}

func (o *Options) planLogin(auth *fetch.Credential, implicit bool) (steps []scheme.Step, err error) {
	if !implicit && o.wantsTLS() {
		steps = append(steps, scheme.Step{Verb: "AUTH", Arg: "TLS"})
	}
	user := anonymous
	if auth != nil {
		user = cmp.Or(auth.User, anonymous)
		err = (&login{Credential: *auth}).safe()
	}
	steps = append(steps, scheme.Step{Verb: "USER", Arg: user}, scheme.Step{Verb: "PASS", Secret: true})
	if implicit || o.wantsTLS() {
		steps = append(steps, scheme.Step{Verb: "PBSZ", Arg: "0"}, scheme.Step{Verb: "PROT", Arg: o.protection()})
	}
	return steps, err
}

func typeStep(p path) scheme.Step { return scheme.Step{Verb: "TYPE", Arg: p.kind} }

func (o *Options) dataStep() scheme.Step {
	switch {
	case o.Active != "" && o.NoEPRT:
		return scheme.Step{Verb: "PORT"}
	case o.Active != "":
		return scheme.Step{Verb: "EPRT", Else: "PORT"}
	case o.NoEPSV:
		return scheme.Step{Verb: "PASV"}
	}
	return scheme.Step{Verb: "EPSV", Else: "PASV"}
}
