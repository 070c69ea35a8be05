// SPDX-License-Identifier: Apache-2.0

#ifndef CCURLBASELINE_PROGRAMS_H
#define CCURLBASELINE_PROGRAMS_H

#include "Connection.h"

/// The plain program: returns when the connection's phase is over.
void Plain_run(Connection *connection);

/// The tuned program's epoll instance and what it knows of each connection.
typedef struct Reactor Reactor;
Reactor *Reactor_create(Connection *connections, size_t count);
void Reactor_destroy(Reactor *reactor);
/// Returns when the phase of every connection is over.
void Reactor_run(Reactor *reactor);

#endif
