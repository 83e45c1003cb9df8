package tftp

// help is the help text about tftp URLs.
const help = `tftp://HOST[:PORT]/FILE[;mode=octet|netascii]   RFC 3617

A file of a TFTP server. The first slash is not part of the name, so that
tftp://HOST//FILE requests /FILE. The mode netascii converts line ends; the
default is octet. The protocol has no listings, no passwords and no checksums, and
a transfer cannot be resumed. fetch info prints the size, if the server reports it.
The size of a file has no limit without --max-filesize.
Flags: --tftp-blksize BYTES requests another block size. --tftp-no-options sends no
options, for old servers that do not answer otherwise.`
