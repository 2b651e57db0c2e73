package client

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTablesFitTheScreenAndKeepTheEnds(t *testing.T) {
	var out strings.Builder
	printTable(&out, [][]string{
		{"NAME", "FUNCTION", "STATE"},
		{"short", "f", "allocated"},
		{strings.Repeat("very-", 20) + "long-id-0001", "another-function-of-some-length", "moving"},
	})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if width := utf8.RuneCountInString(line); width > 80 || strings.HasSuffix(line, " ") {
			t.Errorf("%d columns: %q", width, line)
		}
	}
	if !strings.Contains(lines[2], "long-id-0001  another") || !strings.HasPrefix(lines[2], "…") {
		t.Errorf("%q", lines[2])
	}
	if strings.Index(lines[0], "STATE") != strings.Index(lines[1], "allocated") {
		t.Errorf("columns do not stand below each other:\n%s", out.String())
	}
}
