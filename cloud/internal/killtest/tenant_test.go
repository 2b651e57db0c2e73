package killtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

// functions are ten: some need accelerators that are not all configured at a time, some a board for themselves.
func functions() []*rackloomv1.Function {
	var all []*rackloomv1.Function
	for i, accelerator := range []string{"", "", "", "sobel", "sobel", "mm", "mm", "cnn", "", "mm"} {
		all = append(all, &rackloomv1.Function{
			Name: fmt.Sprintf("f%d", i), Query: &rackloomv1.DeviceQuery{Accelerator: accelerator}, Exclusive: i >= 8,
		})
	}
	return all
}

// record is what an orchestrator knows of an instance.
type record struct {
	// exists, and if not gone is certain; if neither is, an answer was lost.
	exists, gone bool
	// token, generation and device are those of the last answer; the token is empty if there was none.
	token, device string
	generation    uint64
}

// orchestrator makes and frees instances, one call at a time, and remembers every answer.
type orchestrator struct {
	name    string
	client  rackloomv1.FunctionsServiceClient
	random  *rand.Rand
	records map[string]*record
	// count has what came of the calls.
	count map[string]int
	// busy is held while calls are made, and taken by who wants to look.
	busy sync.Mutex
}

const callTime = 2 * time.Second

// lost says that an answer was lost: the call may have been carried out or not.
func lost(err error) bool {
	code := status.Code(err)
	return code == codes.Unavailable || code == codes.DeadlineExceeded || code == codes.Canceled
}

// run makes calls until the context ends. It returns what an answer should not have been.
func (o *orchestrator) run(ctx context.Context) error {
	for ctx.Err() == nil {
		o.busy.Lock()
		err := o.step()
		o.busy.Unlock()
		if err != nil {
			return err
		}
		time.Sleep(time.Duration(1+o.random.IntN(8)) * time.Millisecond)
	}
	return nil
}

func (o *orchestrator) step() error {
	id := fmt.Sprintf("%s-%d", o.name, o.random.IntN(6))
	known := o.records[id]
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	switch kind := o.random.IntN(10); {
	case known == nil || known.gone && kind < 7:
		return o.create(ctx, id)
	case !known.exists || kind < 3:
		return o.look(ctx, id, known)
	case kind < 6:
		return o.confirm(ctx, id, known)
	case kind < 9:
		return o.free(ctx, id, known)
	default:
		return o.create(ctx, id) // Again: the answer has to be the same.
	}
}

func (o *orchestrator) create(ctx context.Context, id string) error {
	function := "f" + id[len(id)-1:] // Each id is always one function's.
	if o.name == "o1" {
		function = fmt.Sprintf("f%d", 4+id[len(id)-1]-'0')
	}
	known := o.records[id]
	instance, err := o.client.CreateInstance(ctx, &rackloomv1.CreateInstanceRequest{Id: id, Function: function})
	switch {
	case err == nil:
		o.count["created"]++
		return o.told(id, instance)
	case status.Code(err) == codes.ResourceExhausted:
		if known != nil && known.exists {
			return fmt.Errorf("%s is lost: it was allocated, and created again it is refused: %w", id, err)
		}
		o.count["refused"]++
		o.records[id] = &record{gone: true}
	case lost(err):
		o.count["in doubt"]++
		if known == nil || known.gone {
			o.records[id] = &record{} // Whatever it gets is right.
		}
	default:
		return fmt.Errorf("create %s: %w", id, err)
	}
	return nil
}

// told checks an answer against what is known, and remembers it.
func (o *orchestrator) told(id string, instance *rackloomv1.Instance) error {
	token := instance.Environment["RACKLOOM_TOKEN"]
	known := o.records[id]
	if known != nil && known.gone && known.token == token {
		return fmt.Errorf("%s was freed, and is back: %v", id, instance)
	}
	if known != nil && !known.gone && known.token != "" {
		switch {
		case known.token != token:
			return fmt.Errorf("%s was allocated twice: %+v, then %v", id, *known, instance)
		case instance.Generation < known.generation:
			return fmt.Errorf("%s went back: %+v, then %v", id, *known, instance)
		case instance.Generation == known.generation && instance.Device != known.device:
			return fmt.Errorf("%s has another board that it did not move to: %+v, then %v", id, *known, instance)
		}
	}
	o.records[id] = &record{exists: true, token: token, device: instance.Device, generation: instance.Generation}
	return nil
}

func (o *orchestrator) look(ctx context.Context, id string, known *record) error {
	instance, err := o.client.GetInstance(ctx, &rackloomv1.GetInstanceRequest{Id: id})
	switch {
	case err == nil && known.gone:
		return fmt.Errorf("%s was freed, and is there: %v", id, instance)
	case err == nil:
		return o.told(id, instance)
	case status.Code(err) == codes.NotFound && known.exists:
		return fmt.Errorf("%s is lost: it was %+v", id, *known)
	case status.Code(err) == codes.NotFound:
		known.gone = true
	case !lost(err):
		return fmt.Errorf("look at %s: %w", id, err)
	}
	return nil
}

func (o *orchestrator) free(ctx context.Context, id string, known *record) error {
	_, err := o.client.DeleteInstance(ctx, &rackloomv1.DeleteInstanceRequest{Id: id})
	switch {
	case err == nil:
		o.count["freed"]++
		known.exists, known.gone = false, true
	case lost(err):
		o.count["in doubt"]++
		known.exists = false // Nor is it certain that it is gone.
	case status.Code(err) == codes.NotFound:
		return fmt.Errorf("%s is lost: it was %+v", id, *known)
	default:
		return fmt.Errorf("free %s: %w", id, err)
	}
	return nil
}

func (o *orchestrator) confirm(ctx context.Context, id string, known *record) error {
	instance, err := o.client.GetInstance(ctx, &rackloomv1.GetInstanceRequest{Id: id})
	if err != nil {
		if lost(err) {
			return nil
		}
		return fmt.Errorf("%s is lost: it was %+v: %w", id, *known, err)
	}
	if err := o.told(id, instance); err != nil || instance.Move == nil {
		return err
	}
	moved, err := o.client.ConfirmMove(ctx, &rackloomv1.ConfirmMoveRequest{Id: id, Device: instance.Move.To})
	switch {
	case err == nil:
		o.count["moved"]++
		return o.told(id, moved)
	case lost(err), status.Code(err) == codes.FailedPrecondition: // The move may have been given up.
		return nil
	}
	return fmt.Errorf("confirm the move of %s: %w", id, err)
}

// compare checks all that the orchestrator knows against what the registry says there is. Nothing is under way.
func (o *orchestrator) compare(present map[string]*rackloomv1.Instance) error {
	var all error
	for id, known := range o.records {
		instance := present[id]
		switch {
		case instance == nil && known.exists:
			all = errors.Join(all, fmt.Errorf("%s is lost: it was %+v", id, *known))
		case instance != nil && known.gone:
			all = errors.Join(all, fmt.Errorf("%s was freed, and is there: %v", id, instance))
		case instance != nil:
			all = errors.Join(all, o.told(id, instance))
		default:
			known.gone = true
		}
	}
	return all
}
