package cluster

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Error is an answer that is no success. Its text has three parts: what failed, why, and what to do.
type Error struct {
	Code codes.Code
	// What failed, with its subject.
	What string
	// Why it did.
	Why string
	// Help is what to do about it; empty if there is nothing to say.
	Help string
	// Cause is the error below, if there is one.
	Cause error
}

func fail(code codes.Code, what, why, help string) *Error {
	return &Error{Code: code, What: what, Why: why, Help: help}
}

// Error joins the parts.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s: %s", e.What, e.Why)
	if e.Help != "" {
		fmt.Fprintf(&text, "; %s", e.Help)
	}
	return text.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// GRPCStatus is how gRPC learns the code.
func (e *Error) GRPCStatus() *status.Status { return status.New(e.Code, e.Error()) }

func unknown(kind, id string) *Error {
	return fail(codes.NotFound, fmt.Sprintf("%s %s", kind, id), "not found", "")
}

// notStored says that a change did not come true, because it could not be made durable.
func notStored(err error) *Error {
	failed := fail(codes.Unavailable, "store the change", err.Error(),
		"nothing has changed; make room on the registry's disk and try again")
	failed.Cause = err
	return failed
}
