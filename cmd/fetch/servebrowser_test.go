package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anyurl/fetch/internal/browsertest"
	"github.com/anyurl/fetch/internal/faultnet"
	"github.com/anyurl/fetch/internal/peer"
	"github.com/anyurl/fetch/internal/waistest"
)

// newsArticle returns an article of the group local.test.
func newsArticle(id, subject, more string) string {
	return "Path: test!not-for-mail\r\nFrom: J <j@example.org>\r\nNewsgroups: local.test\r\nSubject: " + subject +
		"\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nMessage-ID: <" + id + "@example.org>\r\n" + more
}

// attachedFile is an article with a text and an attached file.
var attachedFile = newsArticle("photo", "=?utf-8?q?Caf=C3=A9?=", "References: <tea@example.org>\r\nMIME-Version: 1.0\r\n"+
	"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nSee the file.\r\n--x\r\n"+
	"Content-Type: application/zip\r\nContent-Disposition: attachment; filename=photos.zip\r\n\r\nPK\r\n--x--\r\n")

// TestServeBrowser opens live pages of real servers in Chromium, and follows
// links and submits forms as a user does.
func TestServeBrowser(t *testing.T) {
	gopher := peer.Gophernicus(t, peer.GophernicusOptions{})
	gopher.Put("about.txt", []byte("caf\xc3\xa9 <b>\n"))
	script := gopher.Put("cgi-bin/search", []byte("#!/bin/sh\necho \"ifound $QUERY_STRING\"\n"))
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	ask := peer.Pygopherd(t, peer.PygopherdOptions{})
	ask.Put("form.txt", []byte("thank you\n"))
	ask.Put("form.txt.ask", []byte("Ask: Your name\n"))
	ftp := peer.Vsftpd(t, peer.FTPOptions{})
	ftp.Put("pub/b.txt", []byte("longer text\n"))
	ftp.Put("pub/a.txt", []byte("text\n"))
	news := peer.INN(t, peer.INNOptions{})
	for _, a := range []string{newsArticle("tea", "Tea <b>time</b>", "\r\nMilk first.\r\n"), attachedFile} {
		news.Feed(a)
	}
	wais := faultnet.Listen(t, faultnet.Script{waistest.FreeWAIS(t).Step()})
	mail := peer.Dovecot(t, peer.DovecotOptions{})
	mail.Add(peer.User, "INBOX", "From: bob@example.org\r\nSubject: private message\r\n\r\nbody\r\n")
	netrc := filepath.Join(t.TempDir(), "netrc")
	if err := os.WriteFile(netrc, []byte(fmt.Sprintf("machine 127.0.0.1 login %s password %s\n", peer.User, peer.Password)), 0o600); err != nil {
		t.Fatal(err)
	}

	first, token := startGateway(t, "--netrc-file", netrc, "-k")
	address := strings.TrimSuffix(strings.TrimPrefix(first, "http://"), "/")
	b := browsertest.Start(t, address)
	p := b.Open(first)
	enter := func(url string) {
		p.Go(first)
		p.Wait("document.querySelector('input[name=url]') != null")
		p.Eval("void (document.querySelector('input[name=url]').value = '" + url + "', document.querySelector('input[name=url]').form.requestSubmit())")
	}
	follow := func(text string) {
		link := "[...document.querySelectorAll('main a')].find(a => a.textContent.trim().startsWith('" + text + "'))"
		p.Wait(link + " != null")
		p.Go(p.Eval(link + ".href"))
	}
	submit := func(field, value string) {
		input := "document.querySelector('main [name=\"" + field + "\"]')"
		p.Wait(input + " != null")
		p.Eval("void (" + input + ".value = '" + value + "', " + input + ".form.requestSubmit())")
	}
	shows := func(text string) { p.Wait("document.body.textContent.includes('" + text + "')") }

	enter("gopher://" + gopher.Addr + "/1/")
	follow("about.txt")
	shows("café <b>")
	shows("gopher://" + gopher.Addr + "/0/about.txt")
	shows("SHA-256")

	enter("gopher://" + gopher.Addr + "/7/cgi-bin/search")
	submit("words", "blue moon")
	shows("found blue moon")

	enter("gopher://" + ask.Addr + "/0/form.txt%09%09?")
	submit("1", "Alice")
	shows("thank you")

	enter("ftp://" + ftp.Addr + "/pub/")
	follow("Size")
	p.Wait("[...document.querySelectorAll('tbody a')].map(a => a.textContent.trim()).join() == 'b.txt,a.txt'") // the largest file first
	p.Wait("document.querySelector('th[aria-sort]').textContent.includes('Size')")

	enter("nntp://" + news.Addr + "/local.test")
	p.Wait("[...document.querySelectorAll('main a')].filter(a => ['Tea <b>time</b>', 'Café'].includes(a.textContent.trim())).length == 2")
	follow("Café")
	shows("See the file.")
	shows("photos.zip")
	name, content := p.Download("void [...document.querySelectorAll('a')].find(a => a.textContent.includes('photos.zip')).click()")
	if name != "photos.zip" || string(content) != "PK" {
		t.Errorf("attachment %s: %q", name, content)
	}

	enter("wais://" + wais.Addr().String() + "/notes?whale")
	shows("alpha.txt")

	box := "imap://" + peer.User + "@" + mail.Addr + "/INBOX"
	enter(box)
	p.Wait("!document.body.textContent.includes('private message') && document.querySelector('h1') != null && " +
		"document.querySelector('input[name=words]') == null")
	p.Go(token)
	enter(box)
	shows("private message")
	if got := p.Eval("document.documentElement.outerHTML.includes('" + peer.Password + "')"); got != "false" {
		t.Error("the page contains the password")
	}
	if got := p.Errors(); len(got) > 0 {
		t.Errorf("console: %q", got)
	}
}
