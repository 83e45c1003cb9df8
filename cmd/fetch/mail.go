package main

import (
	"context"
	"time"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/schemes/mail"
	"github.com/anyurl/fetch/schemes/telnet"
	"github.com/spf13/pflag"
)

// mailFlags are for imap, mid, cid and mailto; sessionFlags for telnet and
// its kin.
type mailFlags struct {
	stores    []string
	in        string
	mechanism string
}

type sessionFlags struct {
	idle     seconds
	terminal string
	codePage int
	screen   string
}

func (f *mailFlags) register(p *pflag.FlagSet) {
	p.StringArrayVar(&f.stores, "mail-store", nil, "look for mid, cid and mailto in `STORE`: an imap URL, a Maildir, an mbox")
	p.StringVar(&f.in, "in", "", "cid URLs name parts of the message at `URL`")
	p.StringVar(&f.mechanism, "sasl", "", "log in to imap by `MECHANISM`: a SASL name, +LOGIN, or * for any, in plaintext too")
}

func (f *sessionFlags) register(p *pflag.FlagSet) {
	p.Var(&f.idle, "idle", "end a session in which nothing comes for `SECONDS`")
	p.StringVar(&f.terminal, "terminal", "", "tell a peer that asks that this is a `TYPE` of terminal")
	p.StringVar(&f.screen, "screen", "text", "bring a tn3270 screen as `FORM`: text, or json with its fields")
	p.IntVar(&f.codePage, "code-page", 37, "read tn3270 screens in code page `N`")
}

// options of the mail package; the client is that of the run, which cid needs
// for the message around it.
func (a *app) mailOptions(client func() *fetch.Client) mail.Options {
	f := &a.flags
	o := mail.Options{Stores: f.mail.stores, Mechanism: f.mail.mechanism, TLS: f.ftp.tlsMode(), Mbox: (f.news.mbox || f.news.maildir != "") && !f.news.listing}
	o.StoreLogin = func(ctx context.Context, c fetch.Challenge) (*fetch.Credential, error) { return a.who.answer(ctx, c) }
	if f.mail.in != "" {
		o.In = func(ctx context.Context) (*fetch.Response, error) { return client().Get(ctx, f.mail.in) }
	}
	return o
}

func (f *sessionFlags) options() (telnet.Options, error) {
	o := telnet.Options{Terminal: f.terminal, Idle: time.Duration(f.idle), CodePage: f.codePage, JSON: f.screen == "json"}
	if f.screen != "text" && f.screen != "json" {
		return o, fetch.Usage.Errorf("--screen is text or json, not %q", f.screen)
	}
	return o, nil
}
