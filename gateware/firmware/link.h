// The link of the port that the shell serves: whether there is one, as who watches the PHY says.
#ifndef RL_LINK_H
#define RL_LINK_H

#include <stdbool.h>

// Begins to look.
void link_start(void);

// There is a link, or nobody can say.
bool link_up(void);

// True once for each time that the link has come up. To be called in each turn.
bool link_came_up(void);

#endif
