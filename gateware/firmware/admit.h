// Whether the sender of the frame at hand holds what the frame's kind requires of it. A rule is a constant where it is
// used (CLAIM_OF_...), so nothing but its own comparison is compiled there.
#ifndef RL_ADMIT_H
#define RL_ADMIT_H

#include "load.h"
#include "session.h"

static inline bool admitted(enum claim_rule rule) {
  switch (rule) {
    case CLAIM_RULE_NONE:
      return true;
    case CLAIM_RULE_EPOCH:
      return session_holds();
    case CLAIM_RULE_GROUP:
      return session_owns() && claim.group != 0 && asked.epoch == claim.group;
    case CLAIM_RULE_LOAD:
      return session_owns() && load_member() && asked.epoch == load_group();
    case CLAIM_RULE_MEMBER:
      return load_member() && asked.epoch == load_group();
  }
  return false;
}

#endif
