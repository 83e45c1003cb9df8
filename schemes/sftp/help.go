package sftp

// help is the help text about sftp and scp URLs.
const help = `sftp://[USER[:PASSWORD]@]HOST[:PORT]/PATH   files by SSH

PATH is absolute. /~/PATH is relative to the home directory. The URL of a
directory ends in "/": fetch ls lists it. scp is another name for sftp, and runs
no remote command. Without USER, the name of the local user is used.
The key of the server must be in ~/.ssh/known_hosts or in
/etc/ssh/ssh_known_hosts: see --knownhosts and --hostpubsha256. An unknown or
changed key is an error with exit code 5, and no key is added to a file.
The SSH agent, the keys in ~/.ssh (id_ed25519, id_ecdsa, id_rsa) and passwords
authenticate the user. Flags: --key FILE uses only the private key in FILE. -u,
--netrc and the URL supply a password; else fetch prompts for it. -k accepts any
server (insecure). fetch asks for the passphrase of a key.`
