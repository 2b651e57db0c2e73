#include "link.h"

#include "clock.h"
#include "hw.h"

// Microseconds between looks: nothing compared to what two PHYs take to agree.
#define LOOK_US 5000u

static uint32_t link;  // As it was seen last.
static uint32_t look_at;

void link_start(void) {
  link = READ(CSR_LINK);
  look_at = now + LOOK_US;
}

bool link_up(void) {
  return link & (LINK_UP | LINK_UNKNOWN);
}

bool link_came_up(void) {
  // Most cards have a link for good, and need not look.
  if (!(link & LINK_WATCHED) || !clock_due(look_at)) return false;
  look_at = now + LOOK_US;
  clock_due(look_at);
  uint32_t before = link;
  bool was_up = link_up();
  link = READ(CSR_LINK);
  // One that went and came back between two looks has come up as well.
  return link_up() && (!was_up || ((link ^ before) & LINK_UPS_MASK << LINK_UPS_SHIFT));
}
