package file

// help documents file URLs.
const help = `file:///PATH        the files of this machine: RFC 8089

A directory is the list of its names; fetch ls prints more. Devices, pipes and
hosts other than localhost are refused.`
