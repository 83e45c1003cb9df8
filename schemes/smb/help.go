package smb

// help is the help text about smb URLs.
const help = `smb://[USER[:PASSWORD]@]HOST[:PORT]/SHARE/PATH   files of SMB servers

smb://HOST/ lists the shares: use fetch ls. The URL of a directory ends in "/".
USER can be DOMAIN;USER. Without USER, the login is anonymous. With USER, a
server that logs in a guest instead is an error. Messages are signed or
encrypted if the server requires it.
SMB 2.0.2 to 3.1.1 are supported, and SMB 1 is not. Names must not contain
\ : * ? " < > | or end in a dot or a space. Symbolic links and referrals to
other servers (DFS) are not followed.
Flags: -u, --netrc and the URL supply a password; else fetch prompts for it.`
