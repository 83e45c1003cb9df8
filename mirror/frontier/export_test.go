package frontier

// OpenClock is Open with a clock.
var OpenClock = open
