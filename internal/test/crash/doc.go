// Package crash contains tests of commands that are killed at each of their file
// calls. It also tests disks that lose the data of these calls in a power
// failure. The next run of the same command must complete the work. Its files
// must then be equal to the files of a run without a failure.
package crash
