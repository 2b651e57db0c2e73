// Package attend keeps a manager's board registered: it registers, sends heartbeats while the manager lives, and writes
// the tokens of those who may use the board into a file that the manager reads.
//
// It stands beside a manager that does not speak gRPC itself. What it holds is a lease and a list, both told anew after
// any failure, so it may be killed at any time.
package attend

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

const (
	// callTime bounds a call of the registry.
	callTime = 5 * time.Second
	// pause is the time before what has failed is tried again.
	pause = time.Second
)

// Attendant is of one board.
type Attendant struct {
	Client rackloomv1.DevicesServiceClient
	// Manager names the installation, and stays the same.
	Manager string
	Device  *rackloomv1.DeviceSpec
	// Tokens is the file to keep; empty for none.
	Tokens string
	// Boards lists the labels that the manager's metrics have for its boards; nil if it serves none.
	Boards func(ctx context.Context) ([]string, error)
	// Alive says whether the manager serves. While it does not the lease is left to end.
	Alive func(ctx context.Context) error
	Log   *slog.Logger

	mu       sync.Mutex
	lease    uint64
	revision uint64
}

// Run attends until the context ends, or the registry refuses the board for good. The file of tokens stays: the manager
// goes on without its attendant.
func (a *Attendant) Run(ctx context.Context) error {
	wanted := a.Device.MetricsBoard
	for ctx.Err() == nil {
		registered, err := a.register(ctx, wanted)
		if err != nil {
			switch status.Code(err) {
			case codes.InvalidArgument, codes.PermissionDenied, codes.Unauthenticated:
				return err
			}
			if errors.Is(err, errNoSuchBoard) {
				return err
			}
			a.Log.Warn("not registered; trying again", "device", a.Device.Id, "error", err)
			sleep(ctx, pause)
			continue
		}
		a.Log.Info("registered", "device", a.Device.Id, "lease", registered.Lease)
		if err := a.serve(ctx, registered); err != nil {
			a.Log.Warn("registering again", "device", a.Device.Id, "error", err)
		}
	}
	return nil
}

func sleep(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

func (a *Attendant) register(ctx context.Context, wanted string) (*rackloomv1.RegisterDeviceResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if err := a.Alive(ctx); err != nil {
		return nil, fmt.Errorf("the manager does not serve: %w", err)
	}
	if err := a.findBoard(ctx, wanted); err != nil {
		return nil, err
	}
	registered, err := a.Client.RegisterDevice(ctx, &rackloomv1.RegisterDeviceRequest{
		Manager: a.Manager, Device: a.Device,
	})
	if err != nil {
		return nil, err
	}
	return registered, a.hold(registered.Lease, registered.Tenants)
}

// serve renews a lease until it is over.
func (a *Attendant) serve(ctx context.Context, registered *rackloomv1.RegisterDeviceResponse) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var watching sync.WaitGroup
	watching.Go(func() { a.watch(ctx, registered.Lease) })
	defer watching.Wait()
	defer cancel()
	interval := time.Duration(registered.LeaseMs) * time.Millisecond / 3
	failing := false
	for {
		sleep(ctx, interval)
		if ctx.Err() != nil {
			return nil
		}
		err := a.beat(ctx, registered.Lease, interval)
		if status.Code(err) == codes.FailedPrecondition {
			return err
		}
		switch {
		case ctx.Err() != nil:
		case err != nil && !failing:
			a.Log.Warn("heartbeat failed", "device", a.Device.Id, "error", err)
		case err == nil && failing:
			a.Log.Info("heartbeats go on", "device", a.Device.Id)
		}
		failing = err != nil
	}
}

func (a *Attendant) beat(ctx context.Context, lease uint64, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(callTime, limit))
	defer cancel()
	if err := a.Alive(ctx); err != nil {
		return fmt.Errorf("the manager does not serve: %w", err)
	}
	a.mu.Lock()
	revision := a.revision
	a.mu.Unlock()
	response, err := a.Client.Heartbeat(ctx, &rackloomv1.HeartbeatRequest{
		Id: a.Device.Id, Lease: lease, Accelerator: a.Device.Accelerator, TenantsRevision: revision,
	})
	if err != nil || response.Tenants == nil {
		return err
	}
	return a.hold(lease, response.Tenants)
}

// watch follows the list, so that a token is there before its program is. Heartbeats make good for what it misses.
func (a *Attendant) watch(ctx context.Context, lease uint64) {
	for ctx.Err() == nil {
		stream, err := a.Client.WatchTenants(ctx, &rackloomv1.WatchTenantsRequest{Id: a.Device.Id, Lease: lease})
		for err == nil {
			var list *rackloomv1.TenantList
			if list, err = stream.Recv(); err == nil {
				err = a.hold(lease, list)
			}
		}
		if status.Code(err) == codes.FailedPrecondition {
			return
		}
		sleep(ctx, pause)
	}
}

// hold writes a list's tokens, unless a newer list is held.
func (a *Attendant) hold(lease uint64, list *rackloomv1.TenantList) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if lease < a.lease || lease == a.lease && list.Revision <= a.revision {
		return nil
	}
	if a.Tokens != "" {
		var text strings.Builder
		fmt.Fprintf(&text, "# Who may use %s; kept by the registry.\n", a.Device.Id)
		for _, tenant := range list.Tenants {
			fmt.Fprintf(&text, "%s name=%s weight=%d\n", tenant.Token, tenant.Instance, max(tenant.Weight, 1))
		}
		if err := replace(a.Tokens, text.String()); err != nil {
			return fmt.Errorf("write the tokens: %w", err)
		}
	}
	a.lease, a.revision = lease, list.Revision
	return nil
}

// replace writes a file so that its reader sees all of the old or all of the new.
func replace(path, text string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".tokens-*") // Mode 0600.
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
