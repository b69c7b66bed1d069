// The reference server and the load generator of the benchmarks. Neither of them uses a library, so that neither
// affects the comparison.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Starts a server thread with one epoll set. It echoes all bytes, or reads and drops them, until the process ends.
/// Returns its port.
uint16_t plain_server_start(bool echoes);

/// Sends 64 bytes on each connection and waits until all echoes have arrived. Repeats this `rounds` times. Returns the
/// total time in seconds; exits on failure.
double plain_ping_pong(uint16_t port, size_t connections, size_t rounds);

/// Sends `length` bytes and waits until the server has closed its sending direction. Returns the time in seconds. Exits
/// on failure.
double plain_bulk(uint16_t port, size_t length);
