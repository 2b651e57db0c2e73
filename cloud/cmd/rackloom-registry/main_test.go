package main

import (
	"errors"
	"flag"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"rackloom/cloud/internal/client"
	"rackloom/cloud/internal/local"
)

func TestExitCodesSayWhatHappened(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, exitOK},
		{flag.ErrHelp, exitOK},
		{errors.New("x"), exitError},
		{status.Error(codes.NotFound, "x"), exitRefused},
		{status.Error(codes.ResourceExhausted, "x"), exitRefused},
		{status.Error(codes.InvalidArgument, "x"), exitError},
		{status.Error(codes.Unavailable, "x"), exitError},
		{status.Error(codes.DeadlineExceeded, "x"), exitTimeout},
	} {
		if got := exit(test.err); got != test.want {
			t.Errorf("%v ends with %d, not %d", test.err, got, test.want)
		}
	}
}

func TestHelpNamesEveryCommandInEightyColumns(t *testing.T) {
	text := help()
	for _, command := range client.Commands() {
		if !strings.Contains(text, " "+command.Name+" ") {
			t.Errorf("no %s", command.Name)
		}
	}
	for _, command := range local.Commands() {
		if !strings.Contains(text, " "+command.Name+" ") {
			t.Errorf("no %s", command.Name)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

func TestMistakesOnTheCommandLine(t *testing.T) {
	for _, arguments := range [][]string{
		{"nonsense"}, {"serve", "now"}, {"serve", "-log-level", "loud"}, {"serve", "-log-format", "xml"},
		{"devices", "a"}, {"free"}, {"devices", "--no-such-option"}, {"devices", "--tls-ca", "/nowhere"},
		{"check", "a"}, {"backup"}, {"check", "-store", "/nowhere"}, {"restore", "a", "b"},
	} {
		if got := run(t.Context(), arguments); got != exitError {
			t.Errorf("%v ends with %d", arguments, got)
		}
	}
	if got := run(t.Context(), nil); got != exitOK {
		t.Errorf("nothing ends with %d", got)
	}
}
