package attend

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errNoSuchBoard is a board that the manager's metrics do not have, or not plainly: somebody has to say which.
var errNoSuchBoard = errors.New("the manager's metrics do not say which board it is")

// findBoard finds the board among those that the manager's metrics have. Managers name boards as their runtimes do,
// which an id cannot always be: then it is the manager's only one, or the wanted one, named on the command line.
func (a *Attendant) findBoard(ctx context.Context, wanted string) error {
	if a.Boards == nil {
		return nil
	}
	boards, err := a.Boards(ctx)
	if err != nil {
		return err
	}
	_, board, _ := strings.Cut(a.Device.Id, "/")
	switch {
	case wanted != "" && slices.Contains(boards, wanted):
	case wanted != "":
		return fmt.Errorf("%w: there is no %q, only %q; name one of them with --metrics-board",
			errNoSuchBoard, wanted, boards)
	case slices.Contains(boards, board):
		a.Device.MetricsBoard = ""
	case len(boards) == 1:
		a.Device.MetricsBoard = boards[0]
	default:
		return fmt.Errorf("%w: %q are there; name one of them with --metrics-board", errNoSuchBoard, boards)
	}
	return nil
}
