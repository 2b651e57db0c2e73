package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/identity"
)

const (
	tokenA, tokenA1, tokenB = "token-of-node-a-0000", "token-of-board-a-1-00", "token-of-node-b-0000"
	threeManagers           = "admin admin-token-000000000\nmanager " + tokenA + " a\nmanager " + tokenA1 + " a/1\n" +
		"manager " + tokenB + " b\n"
)

func with(t *testing.T, token string) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

func startManagers(t *testing.T) (clients, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte(threeManagers), 0o600); err != nil {
		t.Fatal(err)
	}
	return startWith(t, file), file
}

// TestAStolenTokenTouchesNoBoardOfAnotherNode calls all that a manager may call, with the token of another node and the
// lease and the manager's name of the board's own: whoever stole one has the other two as well.
func TestAStolenTokenTouchesNoBoardOfAnotherNode(t *testing.T) {
	c, _ := startManagers(t)
	owner := with(t, tokenA)
	lease := must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(owner, registration("a/0"))).Lease
	attacks := map[string]func(context.Context) error{
		rackloomv1.DevicesService_RegisterDevice_FullMethodName: func(ctx context.Context) error {
			_, err := c.devices.RegisterDevice(ctx, registration("a/0"))
			return err
		},
		rackloomv1.DevicesService_Heartbeat_FullMethodName: func(ctx context.Context) error {
			_, err := c.devices.Heartbeat(ctx, &rackloomv1.HeartbeatRequest{Id: "a/0", Lease: lease, Accelerator: "evil"})
			return err
		},
		rackloomv1.DevicesService_WatchTenants_FullMethodName: func(ctx context.Context) error {
			watch, err := c.devices.WatchTenants(ctx, &rackloomv1.WatchTenantsRequest{Id: "a/0", Lease: lease})
			if err == nil {
				_, err = watch.Recv()
			}
			return err
		},
		rackloomv1.DevicesService_DeregisterDevice_FullMethodName: func(ctx context.Context) error {
			_, err := c.devices.DeregisterDevice(ctx, &rackloomv1.DeregisterDeviceRequest{Id: "a/0", Lease: lease})
			return err
		},
		rackloomv1.DevicesService_ValidateReconfiguration_FullMethodName: func(ctx context.Context) error {
			_, err := c.devices.ValidateReconfiguration(ctx, &rackloomv1.ValidateReconfigurationRequest{
				Id: "a/0", Lease: lease, Instance: "i", Accelerator: "evil",
			})
			return err
		},
		rackloomv1.DevicesService_ReportReconfiguration_FullMethodName: func(ctx context.Context) error {
			_, err := c.devices.ReportReconfiguration(ctx, &rackloomv1.ReportReconfigurationRequest{
				Id: "a/0", Lease: lease, Accelerator: "evil",
			})
			return err
		},
	}
	for method, needed := range needs {
		attack, known := attacks[method]
		if needed != identity.Manager {
			continue
		} else if !known {
			t.Errorf("%s is not attacked", method)
			continue
		}
		for _, token := range []string{tokenB, tokenA1} {
			wantCode(t, attack(with(t, token)), codes.PermissionDenied, "does not speak for board")
		}
	}
	device := must[*rackloomv1.Device](t)(c.devices.GetDevice(owner, &rackloomv1.GetDeviceRequest{Id: "a/0"}))
	if device.Spec.Accelerator != "sobel" {
		t.Fatalf("%v", device)
	}
	if _, err := c.devices.Heartbeat(owner, &rackloomv1.HeartbeatRequest{Id: "a/0", Lease: lease}); err != nil {
		t.Fatalf("the board's own manager: %v", err)
	}
	for board, good := range map[string][]string{"a/1": {tokenA, tokenA1}, "b/0": {tokenB}} {
		for _, token := range []string{tokenA, tokenA1, tokenB} {
			_, err := c.devices.RegisterDevice(with(t, token), registration(board))
			if allowed := strings.Contains(fmt.Sprint(good), token); allowed == (status.Code(err) == codes.PermissionDenied) {
				t.Errorf("%s registers %s: %v", token, board, err)
			}
		}
	}
}

func TestAnotherCredentialOfTheSameBoardWaitsForTheLease(t *testing.T) {
	c, _ := startManagers(t)
	must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(with(t, tokenA), registration("a/1")))
	_, err := c.devices.RegisterDevice(with(t, tokenA1), registration("a/1"))
	wantCode(t, err, codes.AlreadyExists, "another manager has it")
	// The same one, restarted, does not.
	must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(with(t, tokenA), registration("a/1")))
	must[*rackloomv1.RegisterDeviceResponse](t)(
		c.devices.RegisterDevice(with(t, "admin-token-000000000"), registration("a/1")))
}

// eventually waits until a call ends with a code, as a changed file is read after a second.
func eventually(t *testing.T, code codes.Code, call func() error) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		err := call()
		if status.Code(err) == code {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it does not end with %s: %v", code, err)
		}
	}
}

func TestARevokedTokenEndsItsStreams(t *testing.T) {
	c, file := startManagers(t)
	lists := func(token string) func() error {
		return func() error {
			_, err := c.devices.ListDevices(with(t, token), &rackloomv1.ListDevicesRequest{})
			return err
		}
	}
	watch := func(token, id string) func() (*rackloomv1.TenantList, error) {
		t.Helper()
		lease := must[*rackloomv1.RegisterDeviceResponse](t)(c.devices.RegisterDevice(with(t, token), registration(id)))
		stream, err := c.devices.WatchTenants(with(t, token), &rackloomv1.WatchTenantsRequest{Id: id, Lease: lease.Lease})
		if err != nil {
			t.Fatal(err)
		}
		must[*rackloomv1.TenantList](t)(stream.Recv())
		return stream.Recv
	}
	revoked, narrowed, stays := watch(tokenA, "a/0"), watch(tokenA1, "a/1"), watch(tokenB, "b/0")
	ended := make(chan error, 1)
	go func() {
		_, err := stays()
		ended <- err
	}()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("admin admin-token-000000000\nmanager " + tokenA1 + " a/2\nmanager " + tokenB + " b\n")
	for _, receive := range []func() (*rackloomv1.TenantList, error){revoked, narrowed} {
		_, err := receive()
		wantCode(t, err, codes.Unauthenticated, "revoked or changed")
	}
	eventually(t, codes.Unauthenticated, lists(tokenA))
	select {
	case err := <-ended:
		t.Fatalf("another's stream ended: %v", err)
	default:
	}
	// A file that says nothing admits nobody: whom it was to shut out is not known.
	for _, broken := range []string{"king of-all-the-boards-0\n", ""} {
		write(broken)
		eventually(t, codes.Unavailable, lists(tokenB))
		write(threeManagers)
		eventually(t, codes.OK, lists(tokenA))
	}
	wantCode(t, <-ended, codes.Unauthenticated, "revoked")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	eventually(t, codes.Unavailable, lists(tokenB))
}

func TestACertificatesNameIsACredential(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	text := "manager cert:node-a.example.org a\nadmin cert:spiffe://example.org/admin\nviewer viewer-token-00000000\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	auth, err := NewAuth(file)
	if err != nil {
		t.Fatal(err)
	}
	connected := func(certificate *x509.Certificate, isVerified bool) context.Context {
		state := tls.ConnectionState{PeerCertificates: []*x509.Certificate{certificate}}
		if isVerified {
			state.VerifiedChains = [][]*x509.Certificate{{certificate}}
		}
		return peer.NewContext(t.Context(), &peer.Peer{AuthInfo: credentials.TLSInfo{State: state}})
	}
	admin, _ := url.Parse("spiffe://example.org/admin")
	method := rackloomv1.DevicesService_Heartbeat_FullMethodName
	for name, test := range map[string]struct {
		ctx    context.Context
		boards string
		role   identity.Role
		code   codes.Code
	}{
		"by DNS name":    {connected(&x509.Certificate{DNSNames: []string{"x", "node-a.example.org"}}, true), "[a]", identity.Manager, codes.OK},
		"by common name": {connected(&x509.Certificate{Subject: pkix.Name{CommonName: "node-a.example.org"}}, true), "[a]", identity.Manager, codes.OK},
		"by URI":         {connected(&x509.Certificate{URIs: []*url.URL{admin}}, true), "[]", identity.Admin, codes.OK},
		"not verified":   {connected(&x509.Certificate{DNSNames: []string{"node-a.example.org"}}, false), "[]", 0, codes.Unauthenticated},
		"unknown":        {connected(&x509.Certificate{DNSNames: []string{"node-b.example.org"}}, true), "[]", 0, codes.Unauthenticated},
		"none":           {t.Context(), "[]", 0, codes.Unauthenticated},
	} {
		caller, err := auth.admit(test.ctx, method)
		if status.Code(err) != test.code || fmt.Sprint(caller.Boards) != test.boards || caller.Role != test.role {
			t.Errorf("%s: %+v, %v", name, caller, err)
		}
	}
	// A token that is shown decides, whatever the certificate is.
	shown := metadata.NewIncomingContext(connected(&x509.Certificate{URIs: []*url.URL{admin}}, true),
		metadata.Pairs("authorization", "Bearer viewer-token-00000000"))
	if _, err := auth.admit(shown, method); status.Code(err) != codes.PermissionDenied {
		t.Errorf("a viewer's token with an administrator's certificate: %v", err)
	}
}
