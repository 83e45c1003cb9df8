package mail

// help documents imap and imaps URLs.
const help = `imap://USER@HOST/MAILBOX[;UIDVALIDITY=N]/;UID=N[/;SECTION=S]   RFC 5092

A message, or a part of one, is retrieved and not marked as read; a mailbox is a
listing; ?CRITERIA searches it. --mbox and --maildir write the messages of
either. imaps is the same under TLS. Without a user the login is anonymous;
USER;AUTH=MECHANISM selects how to log in. /;PARTIAL=FIRST.LENGTH at the end
selects bytes of a message or a part.
If a server refuses a mechanism, the next one is tried, but no password is sent
in plaintext after a refusal. --sasl names the mechanism, or * allows any.
If the server offers encryption, logins always use it.
Flags: --ssl --ssl-reqd --sasl --mbox --maildir -r, and the TLS flags.`

// lookupHelp documents mid, cid and mailto URLs.
const lookupHelp = `mid:MESSAGE-ID[/CONTENT-ID]   cid:CONTENT-ID   mailto:ADDRESS   RFC 2392, RFC 6068

fetch searches the mail stores of the configuration (--mail-store): an imap URL,
a Maildir or an mbox. CONTENT-ID selects that part of the message, decoded; cid
is a part of the message of --in URL. mailto is a listing of the messages to or
from that address; --mbox and --maildir write the messages. No mail is ever
sent.`
