package mail

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/anyurl/fetch/fetch"
	"github.com/anyurl/fetch/uri"
	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// A namer builds the URLs of mailboxes and messages in a listing. The URLs
// include the user name, because each user has different mailboxes. They omit
// the password.
type namer struct{ base uri.Parts }

func newNamer(u uri.URI) namer {
	p := u.Parts()
	p.Userinfo, _, _ = u.User()
	p.HasUserinfo = p.Userinfo != ""
	p.Query, p.HasQuery, p.Fragment, p.HasFragment = "", false, "", false
	return namer{p}
}

// mailbox returns the URL of the mailbox with the given name.
func (n namer) mailbox(name string) uri.URI { return n.urlAt(escapeMailbox(name)) }

// message returns the URL of the message with the given UID. The URL includes
// UIDVALIDITY if the server sent it, so that the URL never refers to another
// message.
func (n namer) message(m *mailbox, uid uint32) uri.URI {
	path := escapeMailbox(m.name)
	if m.validity != 0 {
		path += ";UIDVALIDITY=" + strconv.FormatUint(uint64(m.validity), 10)
	}
	return n.urlAt(path + "/;UID=" + strconv.FormatUint(uint64(uid), 10))
}

func (n namer) urlAt(path string) uri.URI {
	n.base.Path = "/" + path
	u, _ := uri.Build(n.base) // cannot fail, because escapeMailbox has escaped path
	return u
}

// escapeMailbox returns the mailbox name percent-encoded as a URL path. If the
// name has empty, "." or ".." segments, its slashes are encoded too. Otherwise
// the resolution of relative URLs would remove these segments.
func escapeMailbox(name string) string {
	segments := strings.Split(name, "/")
	slash := "/"
	for i, s := range segments {
		if s == "" || s == "." || s == ".." {
			slash = "%2F"
		}
		segments[i] = uri.Escape(s, uri.Unreserved)
	}
	return strings.Join(segments, slash)
}

// mailboxEntry converts one mailbox of a LIST response to a listing entry.
func (n namer) mailboxEntry(data *imap.ListData) fetch.Entry {
	e := fetch.Entry{Name: data.Mailbox, Kind: fetch.Menu, Size: -1, Extra: map[string]string{}}
	var attributes []string
	for _, a := range data.Attrs {
		attributes = append(attributes, string(a))
		if a == imap.MailboxAttrNoSelect || a == imap.MailboxAttrNonExistent {
			e.Kind = fetch.Info
		}
	}
	if e.Kind == fetch.Menu {
		e.URL = n.mailbox(data.Mailbox)
	}
	setExtra(e.Extra, "attributes", strings.Join(attributes, " "))
	if data.Delim != 0 {
		e.Extra["delimiter"] = string(data.Delim)
	}
	return e
}

// messageEntry converts one message of a FETCH response to a listing entry.
func (n namer) messageEntry(m *mailbox, b *imapclient.FetchMessageBuffer) fetch.Entry {
	e := fetch.Entry{Kind: fetch.Document, Media: messageMedia, Size: -1, Time: b.InternalDate.UTC(),
		URL: n.message(m, uint32(b.UID)), Extra: map[string]string{"uid": strconv.FormatUint(uint64(b.UID), 10)}}
	if b.RFC822Size > 0 {
		e.Size = b.RFC822Size
	}
	var flags []string
	for _, f := range b.Flags {
		flags = append(flags, string(f))
	}
	setExtra(e.Extra, "flags", strings.Join(flags, " "))
	if v := b.Envelope; v != nil {
		if !v.Date.IsZero() {
			e.Time = v.Date.UTC()
		}
		setExtra(e.Extra, "subject", v.Subject)
		setExtra(e.Extra, "message_id", v.MessageID)
		setExtra(e.Extra, "from", addresses(v.From))
		setExtra(e.Extra, "to", addresses(v.To))
	}
	e.Name = cmp.Or(e.Extra["subject"], e.Extra["message_id"], e.Extra["uid"])
	return e
}

// setExtra sets extra[key] to value, unless value is empty. It truncates long
// values so that the escaped entry fits in a line of entries.MaxLine bytes.
func setExtra(extra map[string]string, key, value string) {
	if len(value) > maxExtra {
		value = strings.ToValidUTF8(value[:maxExtra], "") + "..."
	}
	if value != "" {
		extra[key] = value
	}
}

const maxExtra = 4 << 10

// addresses formats an address list as in a From header field. It does not
// encode characters outside ASCII.
func addresses(list []imap.Address) string {
	var all []string
	for _, a := range list {
		switch addr := a.Addr(); {
		case addr == "":
		case a.Name == "":
			all = append(all, addr)
		case strings.ContainsAny(a.Name, `()<>[]:;@,"\`):
			all = append(all, quote(a.Name)+" <"+addr+">")
		default:
			all = append(all, a.Name+" <"+addr+">")
		}
	}
	return strings.Join(all, ", ")
}
