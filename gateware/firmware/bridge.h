// The bridge: which nodes may use the card's memory, and for what. The owner of the claim opens windows by number; the
// hardware (rl_bridge_card) serves them by itself.
#ifndef RL_BRIDGE_H
#define RL_BRIDGE_H

// Sets a window. Refuses a route: the role's streams do not lead to the bridge.
void bridge_set(void);

// The claim is over: all windows are closed and all connections end. Returns when nothing of theirs is under way.
void bridge_end(void);

#endif
