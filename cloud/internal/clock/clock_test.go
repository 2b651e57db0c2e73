package clock

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackloom/cloud/internal/clock/clocktest"
)

func TestTheWallClockMovesNoInstant(t *testing.T) {
	manual := clocktest.NewManual()
	manual.Advance(time.Minute)
	c := New(manual, Start)
	if c.Now() != Start {
		t.Fatalf("a run begins at %d", c.Now())
	}
	manual.Advance(10 * time.Second)
	before := c.Now()
	for _, jump := range []time.Duration{time.Hour, -2 * time.Hour} {
		manual.Jump(jump)
		if c.Now() != before || c.When(before) != c.Wall() {
			t.Fatalf("after a jump of %s it is %d, which is %s at %s", jump, c.Now(), c.When(before), c.Wall())
		}
	}
	if again := New(manual, before); again.Now() != before || again.Epoch().Sub(Start) != 10*time.Second {
		t.Fatalf("the next run begins at %d", again.Now())
	}
	if !c.When(0).IsZero() || c.When(before.Add(time.Hour)).Sub(c.Wall()) != time.Hour {
		t.Fatal("never is a time, or an hour is none")
	}
}

// TestOnlyThisPackageAsksForTheTime reads the registry's sources: whoever asks the machine for the time may come to
// decide by a clock that jumps.
func TestOnlyThisPackageAsksForTheTime(t *testing.T) {
	asks := []string{"Now", "Since", "Until"}
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if strings.Contains(filepath.ToSlash(path), "internal/clock/") {
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok || !slices.Contains(asks, selector.Sel.Name) {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok && from.Name == "time" {
				t.Errorf("%s asks for the time; take it from a clock", set.Position(node.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files were read, %v", files, err)
	}
}
