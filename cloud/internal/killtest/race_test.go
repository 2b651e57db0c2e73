//go:build race

package killtest

// raceOption has the processes built as the test is: with the detector of data races.
const raceOption = "-race"
