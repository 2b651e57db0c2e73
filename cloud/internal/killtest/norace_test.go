//go:build !race

package killtest

// raceOption has the processes built as the test is.
const raceOption = "-race=false"
