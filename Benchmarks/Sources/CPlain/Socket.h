#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/// Ends the process if `holds` is false. The output names the call that failed.
void plain_require(bool holds, const char *what);
int plain_listen(uint16_t *port);
int plain_connect(uint16_t port);
