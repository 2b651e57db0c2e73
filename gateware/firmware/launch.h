// Launches: what the launch queue does not take by itself, and what becomes of those it took.
//
// The hardware accepts each launch once, in order, and runs the kernels one at a time. The firmware
// judges those that were not accepted, cancels, and hands those that have ended to the results.
#ifndef RL_LAUNCH_H
#define RL_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

void launch_start(void);

// Launches accepted and not finished.
uint32_t launch_queued(void);

// Whether a kernel runs.
bool launch_running(void);

// Tells the hardware how many launches it may accept, which depends on how many results are kept.
void launch_bound(void);

// Hands the launches that have ended to the results.
void launch_collect(void);

// A launch that the hardware has accepted, or one that it has not.
void launch_come(void);

void launch_go(void);
void launch_cancel(void);
void launch_query(void);

// Lets kernels start if there are a role and a claim, which they belong to.
void launch_allow(void);

// Ends all launches; their outcome is kept for the host. No kernel starts any more until `launch_allow`.
void launch_cancel_all(void);

// The same, and numbers begin anew.
void launch_forget(void);

#endif
