package ftp

import (
	"context"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/wire/line"
	"github.com/anyurl/fetch/schemes/internal/dirlist"
	"github.com/anyurl/fetch/schemes/internal/sessions"
)

// list retrieves a listing with the best command that the server supports.
func (d *driver) list(ctx context.Context, s *session, req *fetch.Request, p path, resp *fetch.Response) (*transfer, error) {
	resp.Kind = fetch.Menu
	if err := s.chdir(p.dirs); err != nil {
		return nil, err
	}
	if req.Op == fetch.Stat {
		if p.name != "" {
			return nil, s.chdir([]string{p.name})
		}
		return nil, nil
	}
	if !d.canPipeline(s) {
		replies, err := s.sendAll(s.typeCommands(p.kind)...)
		if err == nil {
			err = s.setType(p.kind, replies)
		}
		if err != nil {
			return nil, err
		}
	}
	send := func(command []string) (*transfer, error) {
		if p.name != "" {
			command = append(command, p.argument())
		}
		return d.transfer(ctx, s, order{command: command, atOnce: true, questions: s.typeCommands(p.kind)})
	}
	commands := d.listCommands(s)
	for i, command := range commands {
		t, err := send(command)
		if err == nil && isAll(command) && s.server.listsAll == listsAllUntried {
			t, err = d.compareLists(ctx, s, t, func() (*transfer, error) { return send(commands[i+1]) })
		}
		resp.Code = sessions.CodeOf(err)
		switch {
		case err == nil:
			if !isAll(command) {
				s.server.listsAll = listsAllFails
			}
			resp.Code = t.reply.Code
			t.list = true
			d.readText(t, p)
		case (isUnknown(resp.Code) || isAll(command) && resp.Code/100 == 5) && !s.IsBroken() && i+1 < len(commands):
			continue
		case !isEmpty(resp.Code, err):
			return nil, err
		}
		resp.Media = dirlist.MediaType(dirlist.Params{
			Dialect: dialects[command[0]],
			At:      d.env.Now(),
			UTF8:    s.server.features.has("UTF8"),
		})
		return t, nil
	}
	return nil, fetch.Internal.Errorf("no command lists a directory")
}

// dialects maps each listing command to the format of its listings.
var dialects = map[string]dirlist.Dialect{"MLSD": dirlist.MLSD, "LIST": dirlist.List, "NLST": dirlist.Names}

// listCommands returns the listing commands that the server may support, in
// order of preference.
func (d *driver) listCommands(s *session) [][]string {
	switch {
	case d.NamesOnly:
		return [][]string{{"NLST"}}
	case s.server.features.listsFacts():
		return [][]string{{"MLSD"}, {"LIST"}, {"NLST"}}
	case s.server.listsAll != listsAllFails:
		return [][]string{{"LIST", "-a"}, {"LIST"}, {"NLST"}}
	}
	return [][]string{{"LIST"}, {"NLST"}}
}

// isEmpty reports whether the server rejected a listing because the directory
// is empty. proftpd replies 450 in this case, and wu-ftpd 550.
func isEmpty(code int, err error) bool {
	return (code == 450 || code == 550) && strings.Contains(strings.ToLower(err.Error()), "no files")
}

// isUnread reports whether the final reply of a listing means that the server
// could not read the directory. vsftpd and pure-ftpd reply 226 in this case,
// and send an empty listing.
func isUnread(r line.Reply) bool {
	text := strings.ToLower(strings.Join(r.Lines, " "))
	return strings.Contains(text, "failed to open directory") || strings.Contains(text, "unable to read")
}
