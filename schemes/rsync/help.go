package rsync

// help is the help text about rsync URLs.
const help = `rsync://[USER[:PASSWORD]@]HOST[:PORT]/MODULE/PATH   files of rsync daemons

rsync://HOST/ lists the modules: use fetch ls. The URL of a directory ends in
"/". A file is retrieved completely and compared with the MD4 digest that the
server sends. The protocol has no ranges, so -C - starts again. Connections are
not encrypted. Passwords are sent as digests.
Flags: -u, --netrc and the URL supply a password; else fetch prompts for it.`
