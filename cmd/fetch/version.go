package main

// version is set by the linker for a release.
var version = "dev"
