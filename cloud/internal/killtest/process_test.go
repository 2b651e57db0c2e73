package killtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// process is one that is killed and started again.
type process struct {
	name    string
	command func() *exec.Cmd
	running *exec.Cmd
	output  *tail
}

// start starts it. The last of what it writes is kept for when something goes wrong.
func (p *process) start() error {
	p.running = p.command()
	p.running.Stdout, p.running.Stderr = p.output, p.output
	if err := p.running.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	return nil
}

// kill ends it as nothing can prepare for. It is an error if it was dead already.
func (p *process) kill() error {
	if err := p.running.Process.Kill(); err != nil {
		return fmt.Errorf("%s has ended by itself: %w", p.name, err)
	}
	var exit *exec.ExitError
	if err := p.running.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		return fmt.Errorf("%s has ended by itself: %v\n%s", p.name, err, p.output)
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailMax = 16 << 10

func (w *tail) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, text...)
	if len(w.text) > 2*tailMax {
		w.text = append([]byte(nil), w.text[len(w.text)-tailMax:]...)
	}
	return len(text), nil
}

func (w *tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(bytes.ToValidUTF8(w.text, []byte("?")))
}

// buildRegistry makes the binary that is shipped, or one with these options: a mistake planted, say.
func buildRegistry(t *testing.T, options ...string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "rackloom-registry")
	arguments := append([]string{"build", "-o", binary}, options...)
	build := exec.Command("go", append(arguments, "rackloom/cloud/cmd/rackloom-registry")...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the registry: %v\n%s", err, out)
	}
	return binary
}

func registryProcess(binary, folder string) *process {
	return &process{name: "the registry", output: &tail{}, command: func() *exec.Cmd {
		return exec.Command(binary, "serve", "-listen", "unix:"+socket(folder), "-http", "",
			"-store", filepath.Join(folder, "registry.db"), "-lease", "600ms", "-lost-grace", "1500ms",
			"-move-grace", "400ms", "-reconfigure-timeout", "1s", "-log-level", "warn")
	}}
}

// agentProcess is this test's binary in the part of a manager.
func agentProcess(folder, device string) *process {
	return &process{name: "the manager of " + device, output: &tail{}, command: func() *exec.Cmd {
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), agentFolder+"="+folder, agentDevice+"="+device)
		return command
	}}
}

func socket(folder string) string { return filepath.Join(folder, "registry.sock") }

func dial(folder string) (*grpc.ClientConn, error) {
	return grpc.NewClient("unix:"+socket(folder), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(quickly))
}
