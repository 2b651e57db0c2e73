package killtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

const (
	// soon is how long an honest caller may wait while the registry is attacked.
	soon = time.Second
	// grownMax is how many bytes the registry may have more during an attack than before the first.
	grownMax = 96 << 20
	viewer   = "token-of-a-viewer-00"
)

// flooded is a registry with both of its ports open to strangers.
type flooded struct {
	process    *process
	grpc, http string
	// tls is how honest callers call it; without, in the clear.
	tls      *tls.Config
	files    int
	resident int
}

// attack is what strangers do on connections that stay open.
type attack struct {
	name, address string
	count         int
	does          func(net.Conn)
}

func startFlooded(t *testing.T, options ...string) *flooded {
	t.Helper()
	folder := t.TempDir()
	tokens := filepath.Join(folder, "tokens")
	if err := os.WriteFile(tokens, []byte("viewer "+viewer+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := buildRegistry(t) // What looks for races takes some ten times the memory.
	f := &flooded{process: &process{name: "the registry", output: &tail{}, command: func() *exec.Cmd {
		command := exec.Command(binary, "serve", "-listen", "127.0.0.1:0", "-http", "127.0.0.1:0", "-tokens", tokens,
			"-store", filepath.Join(folder, "registry.db"))
		command.Args = append(command.Args, options...)
		return command
	}}}
	if err := f.process.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.process.running.Process.Kill()
		_ = f.process.running.Wait()
	})
	f.grpc, f.http = f.said(t, `listen=(\S+)`), f.said(t, `http=(\S+)`)
	return f
}

// said waits for what the registry writes about where it listens.
func (f *flooded) said(t *testing.T, pattern string) string {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(f.process.output.String()); found != nil {
			return found[1]
		}
	}
	t.Fatalf("it does not say %s:\n%s", pattern, f.process.output)
	return ""
}

// status is a number of /proc/PID/status, in KiB or as it is.
func (f *flooded) status(t *testing.T, key string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.process.running.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == key+":" {
			value, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			return value
		}
	}
	t.Fatalf("no %s", key)
	return 0
}

func (f *flooded) openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", f.process.running.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// serves makes an honest call, an honest probe and an honest scrape, each over a connection of its own.
func (f *flooded) serves(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	shows := insecure.NewCredentials()
	if f.tls != nil {
		shows = credentials.NewTLS(f.tls)
	}
	connection, err := grpc.NewClient(f.grpc, grpc.WithTransportCredentials(shows))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	shown := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+viewer)
	devices := rackloomv1.NewDevicesServiceClient(connection)
	if _, err := devices.ListDevices(shown, &rackloomv1.ListDevicesRequest{}); err != nil {
		t.Fatalf("an honest call: %v", err)
	}
	if _, err := healthv1.NewHealthClient(connection).Check(ctx, &healthv1.HealthCheckRequest{}); err != nil {
		t.Fatalf("an honest probe: %v", err)
	}
	scrape := http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := scrape.Get("http://" + f.http + "/metrics")
	if err != nil {
		t.Fatalf("an honest scrape: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || !bytes.Contains(body, []byte("rackloom_registry_calls_total")) {
		t.Fatalf("an honest scrape: %v\n%s", err, body)
	}
}

// visitors are connections of strangers that stay open.
type visitors []net.Conn

func (v visitors) leave() {
	for _, c := range v {
		_ = c.Close()
	}
}

// visit opens connections one after the other; each of them does something.
func visit(t *testing.T, address string, count int, does func(net.Conn)) visitors {
	t.Helper()
	var all visitors
	for range count {
		c, err := net.DialTimeout("tcp", address, 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second))
		does(c)
		all = append(all, c)
	}
	return all
}

func says(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) } // Or it has been closed.
}

func resets(text string) func(net.Conn) {
	return func(c net.Conn) {
		says(text)(c)
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

// speaks makes what a connection of HTTP/2 says after its greeting.
func speaks(talk func(*http2.Framer)) func(net.Conn) {
	return func(c net.Conn) {
		says(http2.ClientPreface)(c)
		framer := http2.NewFramer(c, c)
		_ = framer.WriteSettings()
		go func() { _, _ = io.Copy(io.Discard, c) }()
		talk(framer)
	}
}

// calls begins a call on a stream.
func calls(framer *http2.Framer, stream uint32, method string) error {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, field := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
	}
	return framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
}

// half is the most of a message of 60 KiB that fits into a frame.
func half() []byte {
	message := make([]byte, 16000)
	copy(message, []byte{0, 0, 0, 60 << 2, 0})
	return message
}

// halfCalls begins many calls of a method, and finishes none.
func halfCalls(method string) func(*http2.Framer) {
	return func(framer *http2.Framer) {
		for stream := uint32(1); stream < 400; stream += 2 {
			if calls(framer, stream, method) != nil {
				return
			}
			for range 3 {
				if framer.WriteData(stream, false, half()) != nil {
					return
				}
			}
		}
	}
}

// endlessHeaders never ends a block of headers.
func endlessHeaders(framer *http2.Framer) {
	err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: bytes.Repeat([]byte{0x82}, 16000)})
	for range 1000 {
		if err != nil {
			return
		}
		err = framer.WriteContinuation(1, false, bytes.Repeat([]byte{0x82}, 16000))
	}
}

// changesItsMind begins calls and takes them back.
func changesItsMind(framer *http2.Framer) {
	for stream := uint32(1); stream < 4000; stream += 2 {
		if calls(framer, stream, rackloomv1.DevicesService_ListDevices_FullMethodName) != nil ||
			framer.WriteRSTStream(stream, http2.ErrCodeCancel) != nil {
			return
		}
	}
}

func TestStrangersKeepNobodyOut(t *testing.T) {
	f := startFlooded(t)
	probe, list := healthv1.Health_Check_FullMethodName, rackloomv1.DevicesService_ListDevices_FullMethodName
	scrape := "GET /metrics HTTP/1.1\r\nHost: x\r\n"
	f.withstands(t, []attack{
		{"calls: silence", f.grpc, 1000, says("")},
		{"calls: half a greeting", f.grpc, 1000, says("PRI * HTTP/2.0\r\n")},
		{"calls: a greeting and nothing more", f.grpc, 1000, speaks(func(*http2.Framer) {})},
		{"calls: no HTTP/2", f.grpc, 200, says(scrape + "\r\n")},
		{"calls: resets", f.grpc, 1000, resets("PRI")},
		{"calls: headers without end", f.grpc, 20, speaks(endlessHeaders)},
		{"calls: half sent, without a token", f.grpc, 100, speaks(halfCalls(list))},
		{"calls: half sent, of a method that there is not", f.grpc, 20, speaks(halfCalls("/no.Such/Method"))},
		{"probes: half sent", f.grpc, 100, speaks(halfCalls(probe))},
		{"calls: begun and taken back", f.grpc, 20, speaks(changesItsMind)},
		{"scrapes: silence", f.http, 1000, says("")},
		{"scrapes: half a head", f.http, 1000, says(scrape)},
		{"scrapes: a large head", f.http, 20, says(scrape + "X: " + strings.Repeat("x", 1<<20))},
		{"scrapes: a body that does not come", f.http, 500, says(scrape + "Content-Length: 100000\r\n\r\n")},
		{"scrapes: absurd lengths", f.http, 20, says(scrape + "Content-Length: 18446744073709551616\r\n\r\n")},
		{"scrapes: answers that nobody reads", f.http, 50, says(strings.Repeat(scrape+"\r\n", 500))},
		{"scrapes: kept connections", f.http, 500, says("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\n\r\n")},
		{"scrapes: resets", f.http, 1000, resets(scrape)},
	})
}

// withstands has each attack, serves honest callers meanwhile, and has nothing left of it.
func (f *flooded) withstands(t *testing.T, attacks []attack) {
	f.serves(t)
	time.Sleep(100 * time.Millisecond)
	f.files, f.resident = f.openFiles(t), f.status(t, "VmRSS")
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			all := visit(t, attack.address, attack.count, attack.does)
			defer all.leave()
			f.serves(t)
			if grown := (f.status(t, "VmRSS") - f.resident) << 10; grown > grownMax {
				t.Errorf("it has grown by %d MiB", grown>>20)
			}
			all.leave()
			for end := time.Now().Add(10 * time.Second); f.openFiles(t) > f.files; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d files instead of %d", f.openFiles(t), f.files)
				}
			}
			f.serves(t)
		})
	}
}
