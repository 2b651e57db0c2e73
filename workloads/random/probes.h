/* Calls with wrong arguments. Each has one fault alone, so that there is one right answer. They are made on objects of
 * their own, and change none of them. */
#ifndef RANDOM_PROBES_H
#define RANDOM_PROBES_H

#include <stdbool.h>

#include "device.h"
#include "draw.h"

struct probes;

/* Makes the objects. With `all_of_standard` also those calls are made that PoCL answers otherwise than the standard
 * says. */
struct probes *probes_open(const struct device *device, bool all_of_standard);
void probes_close(struct probes *probes);

/* Makes one of the calls, by chance. */
void probes_any(const struct probes *probes, struct draw *draw);

/* Makes all of the calls, or the one of that name, even if PoCL answers it otherwise; `name` may be NULL. */
void probes_all(const struct probes *probes, const char *name);

/* Prints all of them: name, right answer, and where PoCL deviates, why. */
void probes_list(void);

#endif
