package mail

// help is the manual text for imap and imaps URLs.
const help = `imap://USER@HOST/MAILBOX[;UIDVALIDITY=N]/;UID=N[/;SECTION=S]   RFC 5092

fetch retrieves a message or a part of a message. It does not mark the message
as read. The URL of a mailbox returns a listing of its messages, and ?CRITERIA
searches the mailbox. --mbox and --maildir write the messages instead of the
listing. imaps uses TLS from the start. Without USER, the login is anonymous.
USER;AUTH=MECHANISM selects the authentication mechanism. A final
/;PARTIAL=FIRST.LENGTH selects a range of bytes.
Listings omit UIDVALIDITY if the server assigns a new value whenever a mailbox
is opened.
If a server rejects a mechanism, fetch tries the next one, but then sends no
password in plaintext. --sasl selects a mechanism, and --sasl "*" allows any.
If the server offers TLS, fetch uses it before the login.
Flags: --ssl --ssl-reqd --sasl --mbox --maildir -r, and the TLS flags.`

// lookupHelp is the manual text for mid, cid and mailto URLs.
const lookupHelp = `mid:MESSAGE-ID[/CONTENT-ID]   cid:CONTENT-ID   mailto:ADDRESS   RFC 2392, RFC 6068

fetch searches the mail stores of the configuration (--mail-store): imap URLs,
Maildirs and mbox files. CONTENT-ID selects a part of the message and decodes
it. A cid URL selects a part of the message of --in URL. A mailto URL returns a
listing of the messages to or from the address, and --mbox and --maildir write
these messages. fetch never sends mail.`
