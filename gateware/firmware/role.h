// The role: the image that the card serves, and its configuration. A role that breaks a rule is stopped and started
// anew by the hardware.
//
// Where the device takes no image while it runs, the configuration port writes the image to a flash, and the role is there
// after a restart: once a host has loaded the same image again, for it is not taken from the flash who may use it.
#ifndef RL_ROLE_H
#define RL_ROLE_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"

// Switches on without a role.
void role_start(void);

// Resets the role: its claim is over.
void role_renew(void);

// A role serves; the configuration port writes one. Never both.
bool role_active(void);
bool role_configuring(void);

// The image configured last is in the flash and awaits a restart.
bool role_written(void);

// What an announcement says of it; without a role, zeros and the card's clock.
uint32_t role_kernels(void);
uint32_t role_clock_khz(void);
uint32_t role_digest(uint32_t word);

// Arguments that a kernel of the role takes.
uint32_t role_args(uint32_t kernel);

// What is known of the image in the staging slot that the role is not in: the next load's.
struct image *role_next_image(void);

// True when the board's own programming port has the configuration port.
bool role_local(void);

// Stops the role and starts to configure the next image.
void role_configure(void);

// Goes on with what has become possible, given these events.
void role_turn(uint32_t events);

// Answers a request for the manifest.
void role_tell_manifest(void);

#endif
