package service

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
	"rackloom/cloud/internal/cluster"
)

// Role is what a caller may do.
type Role int

// The roles. An administrator may do everything, everybody else what is theirs and what a viewer may.
const (
	// Viewer looks, and sees no token of an instance.
	Viewer Role = iota
	// Manager has boards.
	Manager
	// Orchestrator has functions and instances.
	Orchestrator
	// Admin may do everything.
	Admin
)

var roleNames = map[Role]string{Viewer: "viewer", Manager: "manager", Orchestrator: "orchestrator", Admin: "admin"}

// String is the role's name.
func (r Role) String() string { return roleNames[r] }

// ParseRole reads a role's name.
func ParseRole(name string) (Role, error) {
	for role, known := range roleNames {
		if known == name {
			return role, nil
		}
	}
	names := slices.Sorted(maps.Values(roleNames))
	return 0, fmt.Errorf("no role is called %q; there are %s", name, strings.Join(names, ", "))
}

func (r Role) may(needed Role) bool { return r == Admin || r == needed || needed == Viewer }

// needs says who may call what. A method that is not here is nobody's but the administrator's.
var needs = map[string]Role{
	rackloomv1.DevicesService_RegisterDevice_FullMethodName:          Manager,
	rackloomv1.DevicesService_Heartbeat_FullMethodName:               Manager,
	rackloomv1.DevicesService_WatchTenants_FullMethodName:            Manager,
	rackloomv1.DevicesService_DeregisterDevice_FullMethodName:        Manager,
	rackloomv1.DevicesService_ValidateReconfiguration_FullMethodName: Manager,
	rackloomv1.DevicesService_ReportReconfiguration_FullMethodName:   Manager,
	healthv1.Health_List_FullMethodName:                              Viewer,
	healthv1.Health_Watch_FullMethodName:                             Viewer,
	rackloomv1.DevicesService_GetDevice_FullMethodName:               Viewer,
	rackloomv1.DevicesService_ListDevices_FullMethodName:             Viewer,
	rackloomv1.DevicesService_WatchDevices_FullMethodName:            Viewer,
	rackloomv1.DevicesService_DrainDevice_FullMethodName:             Admin,
	rackloomv1.FunctionsService_RegisterFunction_FullMethodName:      Orchestrator,
	rackloomv1.FunctionsService_DeleteFunction_FullMethodName:        Orchestrator,
	rackloomv1.FunctionsService_CreateInstance_FullMethodName:        Orchestrator,
	rackloomv1.FunctionsService_DeleteInstance_FullMethodName:        Orchestrator,
	rackloomv1.FunctionsService_ConfirmMove_FullMethodName:           Orchestrator,
	rackloomv1.FunctionsService_ListFunctions_FullMethodName:         Viewer,
	rackloomv1.FunctionsService_GetInstance_FullMethodName:           Viewer,
	rackloomv1.FunctionsService_ListInstances_FullMethodName:         Viewer,
	rackloomv1.FunctionsService_WatchInstances_FullMethodName:        Viewer,
}

// open is the health check, which says nothing that is secret and which probes ask without a token.
const open = healthv1.Health_Check_FullMethodName

// Auth tells callers' roles by the bearer tokens they show. Without any token configured everybody is an administrator.
type Auth struct {
	digests []digest
}

type digest struct {
	role Role
	sum  [sha256.Size]byte
}

// ParseTokens reads lines of a role and a token. Empty lines and those that begin with `#` are left out.
func ParseTokens(text string) (*Auth, error) {
	auth := &Auth{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 || len(fields[1]) < 16 {
			return nil, fmt.Errorf("line %d: write a role and a token of at least 16 characters", number)
		}
		role, err := ParseRole(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		auth.digests = append(auth.digests, digest{role: role, sum: sha256.Sum256([]byte(fields[1]))})
	}
	if len(auth.digests) == 0 {
		return nil, errors.New("there is no token in it")
	}
	return auth, nil
}

type roleKey struct{}

// roleOf is the caller's role, as the interceptor found it.
func roleOf(ctx context.Context) Role {
	role, _ := ctx.Value(roleKey{}).(Role)
	return role
}

// Open tells whether anybody may call a method.
func Open(method string) bool { return method == open }

// Known tells whether there are callers of a method.
func Known(method string) bool {
	_, known := needs[method]
	return known
}

// Admit finds the caller's role, and whether it may call the method. The context that it returns is for the method.
func (a *Auth) Admit(ctx context.Context, method string) (context.Context, error) {
	if Open(method) {
		return ctx, nil
	}
	role, err := a.role(ctx, method)
	if err != nil {
		return nil, err
	}
	needed, known := needs[method]
	if !known {
		needed = Admin
	}
	if !role.may(needed) {
		return nil, &cluster.Error{
			Code: codes.PermissionDenied, What: method, Why: fmt.Sprintf("the token is a %s's", role),
			Help: fmt.Sprintf("use the token of a %s", needed),
		}
	}
	return context.WithValue(ctx, roleKey{}, role), nil
}

func (a *Auth) role(ctx context.Context, method string) (Role, error) {
	if len(a.digests) == 0 {
		return Admin, nil
	}
	var shown string
	if values := metadata.ValueFromIncomingContext(ctx, "authorization"); len(values) == 1 {
		shown, _ = strings.CutPrefix(values[0], "Bearer ")
	}
	sum := sha256.Sum256([]byte(shown))
	for _, known := range a.digests {
		if subtle.ConstantTimeCompare(sum[:], known.sum[:]) == 1 {
			return known.role, nil
		}
	}
	why := "there is no token"
	if shown != "" {
		why = "the token is not known"
	}
	return 0, &cluster.Error{
		Code: codes.Unauthenticated, What: method, Why: why, Help: "send the header authorization: Bearer TOKEN",
	}
}
