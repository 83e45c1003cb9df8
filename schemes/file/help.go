package file

// help is the help text about file URLs.
const help = `file:///PATH        local files: RFC 8089

A directory is printed as a list of names; fetch ls prints details. Devices,
pipes and hosts other than localhost are rejected.`
