// The reference server and the load generator, which use no library, so that neither affects the comparison.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Starts a thread with one epoll set that echoes, or reads and drops, until the process ends. Returns its port.
uint16_t plain_server_start(bool echoes);

/// Sends 64 bytes on each of `connections` and waits for all echoes, `rounds` times. Returns seconds; exits on failure.
double plain_ping_pong(uint16_t port, size_t connections, size_t rounds);

/// Sends `length` bytes and waits until the server has closed its direction. Returns seconds; exits on failure.
double plain_bulk(uint16_t port, size_t length);
