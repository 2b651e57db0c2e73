package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A worker keeps one workload process alive and hands it requests, one at a time. A process that dies fails the
// request that it had; the next request starts another one.
//
// The process runs with --serve: it says that it is ready by a line on stdout, then answers each line on stdin by a
// line of JSON, and ends when stdin does.
type worker struct {
	command []string
	timeout time.Duration // For one request, and for the process to become ready.

	turn  chan struct{} // Holds a token while nobody uses the process. Whoever has taken it owns what is below.
	child *child        // nil: none runs.

	mu      sync.Mutex
	failure error // Why the last request or start failed; nil after one that did not.
}

// A child is a running workload.
type child struct {
	process *exec.Cmd
	stdin   io.WriteCloser
	lines   chan []byte   // What it says on stdout; closed at its end.
	ended   chan struct{} // Closed when the process is gone and `err` is set.
	err     error
	stderr  *tail
}

func newWorker(command []string, timeout time.Duration) *worker {
	w := &worker{command: command, timeout: timeout, turn: make(chan struct{}, 1)}
	w.turn <- struct{}{}
	return w
}

// do runs one request and returns the workload's line of JSON. It waits for its turn until ctx is done. A request
// that has begun is finished even if ctx is done meanwhile: a device cannot be interrupted, and the next answer would
// be this one's.
func (w *worker) do(ctx context.Context) (json.RawMessage, error) {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	line, err := w.request()
	if err != nil {
		w.stop()
	}
	w.mu.Lock()
	w.failure = err
	w.mu.Unlock()
	return line, err
}

// start starts the process, unless it runs, so that the first request finds it ready.
func (w *worker) start() error {
	<-w.turn
	defer func() { w.turn <- struct{}{} }()
	return w.ensure()
}

// health is nil while requests have a chance.
func (w *worker) health() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// close lets the process end by itself, and kills it if it has not done so after the time-out.
func (w *worker) close() {
	<-w.turn // For ever: a worker that is closed takes no more requests.
	if w.child == nil {
		return
	}
	w.child.stdin.Close()
	select {
	case <-w.child.ended:
	case <-time.After(w.timeout):
		w.stop()
	}
}

func (w *worker) request() (json.RawMessage, error) {
	if err := w.ensure(); err != nil {
		return nil, err
	}
	if _, err := w.child.stdin.Write([]byte("\n")); err != nil {
		return nil, w.child.reason(fmt.Errorf("hand over the request: %w", err))
	}
	return w.child.answer(w.timeout)
}

// ensure makes sure that a process runs and is ready.
func (w *worker) ensure() error {
	if w.child != nil {
		select {
		case <-w.child.ended: // Between two requests.
			w.child = nil
		default:
			return nil
		}
	}
	c, err := launch(w.command)
	if err != nil {
		return fmt.Errorf("start the workload: %w", err)
	}
	w.child = c
	if _, err := c.answer(w.timeout); err != nil {
		w.stop()
		return fmt.Errorf("wait for the workload to be ready: %w", err)
	}
	return nil
}

func (w *worker) stop() {
	if w.child == nil {
		return
	}
	w.child.stdin.Close()
	w.child.kill()
	w.child = nil
}

func launch(command []string) (*child, error) {
	process := exec.Command(command[0], command[1:]...)
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &child{
		process: process,
		stdin:   stdin,
		lines:   make(chan []byte, 1),
		ended:   make(chan struct{}),
		stderr:  &tail{},
	}
	process.Stderr = io.MultiWriter(os.Stderr, c.stderr)
	if err := process.Start(); err != nil {
		return nil, err
	}
	go c.read(stdout)
	return c, nil
}

// read passes lines on until the process ends, and then sees it off.
func (c *child) read(stdout io.Reader) {
	scanner := bufio.NewScanner(stdout)
	for scanner.Scan() {
		c.lines <- append([]byte(nil), scanner.Bytes()...)
	}
	c.err = c.process.Wait()
	close(c.ended)
	close(c.lines)
}

// answer waits for the next line.
func (c *child) answer(timeout time.Duration) (json.RawMessage, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case line, ok := <-c.lines:
		if !ok {
			return nil, c.reason(errors.New("the workload has ended"))
		}
		if !json.Valid(line) {
			return nil, fmt.Errorf("the workload says %q, which is not JSON", line)
		}
		return line, nil
	case <-timer.C:
		return nil, fmt.Errorf("the workload does not answer within %v", timeout)
	}
}

// kill ends the process and sees it off.
func (c *child) kill() {
	_ = c.process.Process.Kill() // It fails only if the process has ended.
	for range c.lines {
		// What it still said: nobody waits for that, and without a reader its end would not be seen.
	}
	<-c.ended
}

// reason adds to err what the process, which is of no use any more, said at its end.
func (c *child) reason(err error) error {
	c.kill()
	if text := c.stderr.last(); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return fmt.Errorf("%w: %v", err, c.err)
}

// A tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4096 // Enough for an error message.

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(text), nil
}

// last is the last line that is not empty.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}
