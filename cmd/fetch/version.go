package main

// version is the version of the program. The linker sets it for a release.
var version = "dev"
