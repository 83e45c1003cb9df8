package gopher_test

// A capture is an exchange in testdata/*.hex, the URL that causes the same
// request, and the expected result. The result consists of kind, media type,
// protocol and length, followed by the body or the entries. The prefix
// "gopher://localhost:" is omitted from the URLs of entries.
type capture struct{ title, url, want string }

var captures = map[string][]capture{"umn": umnCaptures, "pygopherd": pygopherdCaptures, "gophernicus": gophernicusCaptures}

// urlSelectors are the exchanges for "URL:" selectors. The driver sends no
// request for such a selector.
var urlSelectors = []string{"URL selector", "h URL selector sent to the server"}

var umnCaptures = []capture{
	{"root menu, plain", "/", `
menu application/gopher-menu Gopher:
index "Search other" gopher://example.org/77/index application/gopher-menu type="7"
session "Telnet somewhere" telnet://user@example.org/ type="8"
document "about.txt  [20Nov26, 1kb]" 7070/00/about text/plain plus="+" type="0"
info "about.txt.abstract  [20Nov26, 1kb]" fault="not-found" plus="+" type="3"
document "multi.txt  [20Nov26, 1kb]" 7070/00/multi text/plain plus="+" type="0"
document "pixel.gif  [20Nov26, 1kb]" 7070/I9/pixel plus="+" type="I"
menu "sub" 7070/11/sub application/gopher-menu plus="+" type="1"
document "survey  [20Nov26, 1kb]" 7070/00/survey%09%09? text/plain plus="?" type="0"`},
	{"root menu, all attributes", "/1%09%09$", `
menu application/gopher+-menu Gopher+:
index "Search other" gopher://example.org/77/index application/gopher-menu type="7"
session "Telnet somewhere" telnet://user@example.org/ type="8"
document "about.txt  [20Nov26, 1kb]" 7070/00/about text/plain 20261120131518 abstract="This abstract describes the about file" admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="0" views="Text/plain En_US: <.0k>\nText/plain De_DE: <.0k>"
info "about.txt.abstract  [20Nov26, 1kb]" 20261120131518 abstract="This abstract describes the about file" admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" fault="not-found" plus="+" type="3"
document "multi.txt  [20Nov26, 1kb]" 7070/00/multi text/plain 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="0" views="Text/plain En_US: <.0k>\napplication/postscript En_US: <.0k>"
document "pixel.gif  [20Nov26, 1kb]" 7070/I9/pixel image/gif 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="I" views="image/gif En_US: <.0k>"
menu "sub" 7070/11/sub application/gopher-menu 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="1" views="application/gopher-menu En_US: <4k>\napplication/gopher+-menu En_US: <4k>"
document "survey  [20Nov26, 1kb]" 7070/00/survey%09%09? text/plain 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" ask="Note: Please fill in the form\nAsk: Your name\nAsk: Your mail\tnobody@localhost\nAskP: A password\nAskL: A long text\nSelect: I like gophers\t1\nChoose: Pick one\tred\tgreen\tblue\nChooseF: pick a file" plus="?" type="0" views="Text/plain En_US: <.0k>"`},
	{"item attributes", "/00/about%09%09!", `
menu application/gopher+-menu Gopher+:
document "about.txt  [20Nov26, 1kb]" 7070/00/about text/plain 20261120131518 abstract="This abstract describes the about file" admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="0" views="Text/plain En_US: <.0k>\nText/plain De_DE: <.0k>"`},
	{"root item attributes (server omits the colon after +INFO)", "/1%09%09!", `
menu application/gopher+-menu Gopher+:
menu "Test site" 7070/1 application/gopher-menu admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nSite: Test site\nOrg: Test org\nLoc: Nowhere\nGeog: 44 58 48 N 93 15 49 W\nVersion: U of Minnesota Unix 2.0 pl6" plus="+" type="1" veronica="treewalk: yes" views="application/gopher-menu: <0k>\napplication/gopher+-menu: <0k>\nDirectory/recursive: <0k>\nDirectory+/recursive: <0k>"`},
	{"text plain", "/00/about", `
document text/plain Gopher: "About this server\r\n.a line starting with a dot\r\n.\r\nafter a lone dot\r\nend\r\n"`},
	{"text gopher+", "/00/about%09%09+", `
document text/plain Gopher+: "About this server\r\n.a line starting with a dot\r\n.\r\nafter a lone dot\r\nend\r\n"`},
	{"German view", "/00/about%09%09+Text/plain%20De_DE", `
document text/plain Gopher+: "About this server\r\n.a line starting with a dot\r\n.\r\nafter a lone dot\r\nend\r\n"`},
	{"postscript view exact string", "/00/multi%09%09+application/postscript%20En_US", `
document application/postscript Gopher+: "%!PS\r\nshowpage\r\n"`},
	{"postscript view without language fails", "/00/multi%09%09+application/postscript", `
not-found: get gopher://192.0.2.1/00/multi%09%09+application/postscript: server replied: '/multi' does not exist!!`},
	{"binary with byte count", "/I9/pixel%09%09+", `
document image/gif Gopher+ 43 bytes: "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"`},
	{"binary plain", "/I9/pixel", `
document image/gif Gopher: "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"`},
	{"missing item gopher+", "/00/nosuch%09%09+", `
not-found: get gopher://192.0.2.1/00/nosuch%09%09+: server replied: '/nosuch' does not exist!!`},
	{"missing item plain: server still answers with --1", "/00/nosuch", `
not-found: get gopher://192.0.2.1/00/nosuch: server replied: '/nosuch' does not exist!!`},
	{"directory gopher+", "/11/sub%09%09+", `
menu application/gopher-menu Gopher+:
document "inner.txt  [20Nov26, 1kb]" 7070/00/sub/inner text/plain plus="+" type="0"`},
	{"directory attributes subset", "/11/sub%09%09$+VIEWS", `
menu application/gopher+-menu Gopher+:
document "inner.txt  [20Nov26, 1kb]" 7070/00/sub/inner text/plain plus="+" type="0" views="Text/plain En_US: <.0k>"`},
	{"gopher+-menu view", "/11/sub%09%09+application/gopher+-menu", `
menu application/gopher+-menu Gopher+:
document "inner.txt  [20Nov26, 1kb]" 7070/00/sub/inner text/plain 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" plus="+" type="0" views="Text/plain En_US: <.0k>"`},
	{"ASK item attributes", "/00/survey%09%09!", `
menu application/gopher+-menu Gopher+:
document "survey  [20Nov26, 1kb]" 7070/00/survey%09%09? text/plain 20261120131518 admin="Admin: Test Admin +1 555 0100 <gopher@localhost>\nMod-Date: Fri Nov 20 13:15:18 2026 <20261120131518>" ask="Note: Please fill in the form\nAsk: Your name\nAsk: Your mail\tnobody@localhost\nAskP: A password\nAskL: A long text\nSelect: I like gophers\t1\nChoose: Pick one\tred\tgreen\tblue\nChooseF: pick a file" plus="?" type="0" views="Text/plain En_US: <.0k>"`},
	{"ASK submission", "/00/survey%09%09+%091%0D%0A+-1%0D%0AAlice%0D%0Aalice@example.org%0D%0Asecret%0D%0A2%0D%0Aline%20one%0D%0Aline%20two%0D%0A1%0D%0Ared%0D%0A.%0D%0A", `
document text/plain Gopher+: "Got answers:\r\nAlice\r\nalice@example.org\r\nsecret\r\n2\r\nline one\r\nline two\r\n1\r\nred\r\n"`},
}

var pygopherdCaptures = []capture{
	{"menu", "/1", `
menu application/gopher-menu Gopher:
menu "box.mbox" 22271/1/box.mbox application/gopher-menu type="1"
document "form" 22271/0/form.txt text/plain plus="+" type="0"
document "page" 22271/h/page.html text/html plus="+" type="h"
document "pixel" 22271/g/pixel.gif image/gif plus="+" type="g"
document "readme" 22271/0/readme.txt text/plain plus="+" type="0"
info "abstract for readme" type="i"
menu "sub" 22271/1/sub application/gopher-menu plus="+" type="1"`},
	{"menu all attributes", "/1%09%09$", `
menu application/gopher+-menu Gopher+:
menu "box.mbox" 22271/1/box.mbox application/gopher-menu admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>" type="1" views="application/gopher-menu:"
document "form" 22271/0/form.txt text/plain 20261120133449 admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" ask="Ask: Your name\nAskL: long" plus="+" type="0" views="text/plain: <0k>"
document "page" 22271/h/page.html text/html 20261120133449 admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" plus="+" type="h" views="text/html: <0k>"
document "pixel" 22271/g/pixel.gif image/gif 20261120133449 admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" plus="+" type="g" views="image/gif: <0k>"
document "readme" 22271/0/readme.txt text/plain 20261120133449 abstract="abstract for readme" admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" plus="+" type="0" views="text/plain: <0k>"
info "abstract for readme" admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>" type="i"
menu "sub" 22271/1/sub application/gopher+-menu 20261120133449 admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" plus="+" type="1" views="application/gopher+-menu:"`},
	{"item attributes", "/0/readme.txt%09%09!", `
menu application/gopher+-menu Gopher+:
document "readme.txt" 22271/0/readme.txt text/plain 20261120133449 abstract="abstract for readme" admin="Admin: Unconfigured Pygopherd Admin <pygopherd@nowhere.nowhere>\nMod-Date: Fri Nov 20 13:34:49 2026 <20261120133449>" plus="+" type="0" views="text/plain: <0k>"`},
	{"text gopher+", "/0/readme.txt%09%09+", `
document text/plain Gopher+ 9 bytes: "hi there\n"`},
	{"text plain (LF, no dot)", "/0/readme.txt", `
document text/plain Gopher: "hi there\n"`},
	{"binary gopher+", "/g/pixel.gif%09%09+", `
document image/gif Gopher+ 43 bytes: "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"`},
	{"missing gopher+", "/0/nosuch%09%09+", `
not-found: get gopher://192.0.2.1/0/nosuch%09%09+: server replied: '/nosuch' does not exist (no handler found)`},
	{"missing plain", "/9/nosuch", `
not-found: get gopher://192.0.2.1/9/nosuch: server replied: '/nosuch' does not exist (no handler found)`},
}

var gophernicusCaptures = []capture{
	{"menu from gophermap", "", `
menu application/gopher-menu Gopher:
info "welcome to the hole" type="i"
document "readme" 22270/0/readme.txt text/plain type="0"
menu "sub dir" 22270/1/sub application/gopher-menu type="1"
document "A web link" http://example.org/ type="h"
index "search" 22270/7/search.cgi application/gopher-menu type="7"
info "___________________________________________________________________" type="i"
info "                 Gophered by Gophernicus/3.1.1 on Debian/12 x86_64" type="i"`},
	{"generated directory menu", "/1/sub", `
menu application/gopher-menu Gopher:
info "[/sub/]" type="i"
info "" type="i"
menu ".." 22270/1/ application/gopher-menu type="1"
document "inner.txt                             2026-Nov-20 13:33     0.0 KB" 22270/0/sub/inner.txt text/plain type="0"
info "___________________________________________________________________" type="i"
info "                 Gophered by Gophernicus/3.1.1 on Debian/12 x86_64" type="i"`},
	{"text file (no dot terminator, LF as stored)", "/0/readme.txt", `
document text/plain Gopher: "hi there\r\n"`},
	{"missing", "/9/nosuch", `
not-found: get gopher://192.0.2.1/9/nosuch: server replied: File or directory not found! (null)`},
	{"caps.txt", "/0/caps.txt", `
document text/plain Gopher: "CAPS\r\n\r\n##\r\n## This is an automatically generated caps file.\r\n##\r\n\r\nCapsVersion=1\r\nExpireCapsAfter=1800\r\n\r\nPathDelimeter=/\r\nPathIdentity=.\r\nPathParent=..\r\nPathParentDouble=FALSE\r\nPathKeepPreDelimeter=FALSE\r\nServerSupportsStdinScripts=TRUE\r\nServerDefaultEncoding=UTF-8\r\nServerTLSPort=0\r\n\r\nServerSoftware=Gophernicus\r\nServerSoftwareVersion=3.1.1 \"Dungeon Edition\"\r\nServerArchitecture=Debian/12 x86_64\r\n"`},
	{"gopher+ request is treated as plain", "/0/readme.txt%09%09+", `
document text/plain Gopher: "hi there\r\n"`},
	{"binary", "/g/pixel.gif", `
document image/gif Gopher: "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"`},
}
