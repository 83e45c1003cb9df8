package gateway

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/internal/test/browsertest"
	"github.com/anyurl/fetch/internal/test/faultnet"
	"github.com/anyurl/fetch/internal/test/peer"
	"github.com/anyurl/fetch/internal/test/waistest"
	"github.com/anyurl/fetch/wrap"
)

// startPersonal starts a Handler for live pages. Requests with the token log in with
// the account of the servers for tests.
func startPersonal(t *testing.T, change func(*Options)) (h *Handler, base string) {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	h = newLive(t, func(o *Options) {
		o.Address = server.Listener.Addr()
		o.Live.Client = func(p fetch.Policy, personal bool) (*fetch.Client, error) {
			login := func(next fetch.Driver) fetch.Driver {
				return fetch.DriverFunc(func(ctx context.Context, req *fetch.Request) (*fetch.Response, error) {
					if personal && req.Typed() && req.Scheme().Traits.Mailbox {
						req = req.Clone()
						req.Auth = &fetch.Credential{User: peer.User, Password: peer.Password}
					}
					return next.Do(ctx, req)
				})
			}
			return fetch.New(fetch.Options{Policy: p, Wrap: append([]fetch.Middleware{login}, wrap.Standard(wrap.Options{})...)}, o.Schemes...), nil
		}
		if change != nil {
			change(o)
		}
	})
	server.Config.Handler = h
	server.Start()
	t.Cleanup(server.Close)
	return h, server.URL
}

// enter opens the first page and enters a URL in its form.
func enter(p *browsertest.Page, base, url string) {
	p.Go(base + "/")
	p.Eval(fmt.Sprintf("void (document.querySelector('#url').value = %q, document.querySelector('#url').form.requestSubmit())", url))
}

// follow clicks the first link or button of the page whose text begins with
// text, and waits until a JavaScript expression is true.
func follow(p *browsertest.Page, text, until string) {
	p.Click(fmt.Sprintf("[...document.querySelectorAll('a, button')].find(e => e.textContent.startsWith(%q))", text), until)
}

// TestBrowseLive enters URLs in Chromium, confirms a private address, follows
// links and fills in forms. The browser reaches only the gateway.
func TestBrowseLive(t *testing.T) {
	t.Parallel()
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("about.txt", []byte("about this server\n"))
	gopher.Put("it's (new).txt", []byte("odd name\n"))
	if err := os.Chmod(gopher.Put("cgi-bin/search", []byte("#!/bin/sh\necho \"ifound $QUERY_STRING\"\n")), 0o755); err != nil {
		t.Fatal(err)
	}
	plus := peer.Pygopherd(t, peer.PygopherdOptions{})
	plus.Put("form.txt", []byte("thank you\n"))
	plus.Put("form.txt.ask", []byte("Ask: Your name\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("pub/<b>.txt", []byte("file in a directory\n"))
	web := peer.Nginx(t, peer.NginxOptions{})
	web.Put("page.html", []byte(`<link rel=stylesheet href=style.css><h1>Page</h1><img src=a.gif><a href=moved>next</a><script>document.title='ran'</script>`))
	web.Put("style.css", []byte("h1{color:#010203}"))
	web.Put("a.gif", []byte(image))
	web.Put("moved/index.html", []byte("<h1>Second</h1>"))
	news := peer.INN(t, peer.INNOptions{})
	news.Feed("From: a@example.org\r\nNewsgroups: local.test\r\nSubject: first\r\nMessage-ID: <1@example.org>\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\nPath: x\r\n\r\nhello\r\n")
	news.Feed("From: b@example.org\r\nNewsgroups: local.test\r\nSubject: Re: first\r\nMessage-ID: <2@example.org>\r\nReferences: <1@example.org>\r\n" +
		"Date: Sun, 22 Nov 2026 11:00:00 GMT\r\nPath: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nreply\r\n" +
		"--b\r\nContent-Type: image/gif\r\nContent-Disposition: attachment; filename=dot.gif\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		"R0lGODlhAQABAIAAAAAA////ACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==\r\n--b--\r\n")
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: bob@example.org\r\nSubject: private message\r\n\r\nfor you only\r\n")
	wais := waistest.FreeWAIS(t)
	waisServer := faultnet.Listen(t, faultnet.Script{wais.Step()}, faultnet.Script{wais.Step()}, faultnet.Script{wais.Step()})

	h, base := startPersonal(t, nil)
	_, closed := startPersonal(t, func(o *Options) { o.Live.AllowHosts = nil })
	b := browsertest.Start(t, strings.TrimPrefix(base, "http://"), strings.TrimPrefix(closed, "http://"))
	p := b.Open(closed + "/")

	enter(p, closed, "gopher://"+gopher.Addr+"/")
	p.Wait("document.querySelector('h1').textContent == 'Open a private address?'")
	follow(p, "Open the URL", "[...document.querySelectorAll('a')].some(e => e.textContent.startsWith('about.txt'))")
	follow(p, "about.txt", "document.querySelector('pre').textContent.startsWith('about this server')")

	p.Go(base + "/live/gopher://" + gopher.Addr + "/") // like a URL in the address bar
	follow(p, "it's (new).txt", "document.querySelector('pre').textContent.startsWith('odd name')")
	p.Eval("location.reload()")
	p.Wait("document.querySelector('pre').textContent.startsWith('odd name')")

	enter(p, base, "gopher://"+gopher.Addr+"/7/cgi-bin/search")
	p.Wait("document.querySelector('#words') != null")
	p.Eval("void (document.querySelector('#words').value = 'blue moon', document.querySelector('#words').form.requestSubmit())")
	p.Wait("document.querySelector('table').textContent.includes('found blue moon')")

	enter(p, base, "gopher://"+plus.Addr+"/0/form.txt%09%09?")
	p.Wait("document.querySelector('[name=\"1\"]') != null")
	p.Eval("void (document.querySelector('[name=\"1\"]').value = 'Alice')")
	follow(p, "Send", "document.querySelector('pre').textContent.startsWith('thank you')")

	enter(p, base, "ftp://"+ftp.Addr+"/pub/")
	follow(p, "<b>.txt", "document.querySelector('pre').textContent.startsWith('file in a directory')")

	enter(p, base, "http://"+web.Addr+"/page.html")
	p.Wait("getComputedStyle(document.querySelector('h1')).color == 'rgb(1, 2, 3)'")
	p.Wait("document.querySelector('img').naturalWidth == 1 && document.title != 'ran' && origin == 'null'")
	follow(p, "next", "document.querySelector('h1').textContent == 'Second'")

	enter(p, base, "news://"+news.Addr+"/local.test")
	p.Wait("document.querySelector('.threads') != null")
	follow(p, "b@example.org", "document.querySelector('.part pre').textContent.startsWith('reply')")
	p.Wait("document.querySelector('.part img').naturalWidth == 1")
	follow(p, "<1@example.org>", "document.querySelector('.part pre').textContent.startsWith('hello')")

	enter(p, base, "wais://"+waisServer.Addr().String()+"/notes?whale")
	p.Wait("document.querySelector('table') != null")
	p.Click("document.querySelector('tbody a')", "document.querySelector('pre').textContent.includes('whale')")

	mailbox := "imap://" + peer.User + "@" + mail.Addr + "/INBOX"
	enter(p, base, mailbox)
	p.Wait("document.querySelector('h1').textContent == 'This URL needs the token of the server'")
	p.Go(base + h.TokenPath())
	p.Wait("document.body.textContent.includes('your logins') && location.search == ''")
	enter(p, base, mailbox)
	follow(p, "private message", "document.querySelector('.part pre').textContent.startsWith('for you only')")

	enter(p, base, "gopher://"+gopher.Addr+"/0/missing")
	p.Wait("document.querySelector('pre').textContent.includes('not found')")
	if got := p.Eval("performance.getEntriesByType('navigation')[0].responseStatus"); got != "404" {
		t.Errorf("the status of a missing item is %s", got)
	}
	enter(p, base, "ftp://"+ftp.Addr+"/missing")
	p.Wait("document.querySelector('h1').textContent == 'The server has no such object'")
}
