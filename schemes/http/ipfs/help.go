package ipfs

// help is the help text about ipfs URLs.
const help = `ipfs://CID[/PATH]   files and directories of IPFS

The blocks come from the trustless gateway that --ipfs-gateway URL or the variable
IPFS_GATEWAY names, such as http://127.0.0.1:8080. There is no default. Each block
is compared with its digest before it is used: a wrong one is exit code 11.
CID is of version 0 or 1, in base32, base36 or base58. The URL of a directory ends
in "/": use fetch ls. Special characters in PATH are percent-encoded. Symbolic
links are not followed, and ipns names are not supported.
Documents of other schemes cannot link to ipfs URLs.`
