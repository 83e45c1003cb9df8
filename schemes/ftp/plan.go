package ftp

import (
	"cmp"
	"strconv"

	"github.com/anyurl/fetch/fetch"
)

// plan returns the commands for a request on a new control connection. An
// existing session needs fewer commands.
func (o *Options) plan(req *fetch.Request, implicit bool) ([]fetch.Step, error) {
	p, err := o.parsePath(req.URL)
	if err != nil {
		return nil, err
	}
	steps, err := o.planLogin(req.Auth, implicit)
	if err != nil {
		return nil, err
	}
	for _, dir := range p.dirs {
		steps = append(steps, fetch.Step{Verb: "CWD", Arg: dir})
	}
	switch {
	case req.Op == fetch.Stat && p.list:
		if p.name != "" {
			steps = append(steps, fetch.Step{Verb: "CWD", Arg: p.name})
		}
	case req.Op == fetch.Stat:
		steps = append(steps, typeStep(p), fetch.Step{Verb: "SIZE", Arg: p.name, Else: "MLST"}, fetch.Step{Verb: "MDTM", Arg: p.name})
	case p.list:
		steps = append(steps, typeStep(p), o.dataStep(), fetch.Step{Verb: "MLSD", Arg: p.argument(), Else: "LIST"})
		if o.NamesOnly {
			steps[len(steps)-1] = fetch.Step{Verb: "NLST", Arg: p.argument()}
		}
	default:
		steps = append(steps, typeStep(p), o.dataStep())
		if first := req.Range.First; first > 0 && p.kind == "I" {
			steps = append(steps, fetch.Step{Verb: "REST", Arg: strconv.FormatInt(first, 10)})
		}
		steps = append(steps, fetch.Step{Verb: "RETR", Arg: p.name})
	}
	return steps, nil
}

func (o *Options) planLogin(auth *fetch.Credential, implicit bool) (steps []fetch.Step, err error) {
	if !implicit && o.wantsTLS() {
		steps = append(steps, fetch.Step{Verb: "AUTH", Arg: "TLS"})
	}
	user := anonymous
	if auth != nil {
		user = cmp.Or(auth.User, anonymous)
		err = (&login{Credential: *auth}).safe()
	}
	steps = append(steps, fetch.Step{Verb: "USER", Arg: user}, fetch.Step{Verb: "PASS", Secret: true})
	if implicit || o.wantsTLS() {
		steps = append(steps, fetch.Step{Verb: "PBSZ", Arg: "0"}, fetch.Step{Verb: "PROT", Arg: o.protection()})
	}
	return steps, err
}

func typeStep(p path) fetch.Step { return fetch.Step{Verb: "TYPE", Arg: p.kind} }

func (o *Options) dataStep() fetch.Step {
	switch {
	case o.Active != "" && o.NoEPRT:
		return fetch.Step{Verb: "PORT"}
	case o.Active != "":
		return fetch.Step{Verb: "EPRT", Else: "PORT"}
	case o.NoEPSV:
		return fetch.Step{Verb: "PASV"}
	}
	return fetch.Step{Verb: "EPSV", Else: "PASV"}
}
