#ifndef CAUSEWAY_INTERFACES_H
#define CAUSEWAY_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

// Room for an interface name and its terminating NUL, as the kernel bounds it.
#define CAUSEWAY_INTERFACE_NAME_SIZE 16

// What an interface is made of. The values are stable: Swift switches over them.
#define CAUSEWAY_INTERFACE_OTHER 0
#define CAUSEWAY_INTERFACE_WIFI 1
#define CAUSEWAY_INTERFACE_CELLULAR 2
#define CAUSEWAY_INTERFACE_WIRED 3
#define CAUSEWAY_INTERFACE_LOOPBACK 4

// The kernel's index of the interface called `name`, or 0 when there is none.
uint32_t causeway_interface_index(const char *name);

// Writes the name of interface `index`, NUL-terminated. Returns 0, or -1 when there is no such interface.
int32_t causeway_interface_name(uint32_t index, char name[CAUSEWAY_INTERFACE_NAME_SIZE]);

// Classifies `name` by what `directory` (normally /sys/class/net) says about it: one of CAUSEWAY_INTERFACE_*.
// Falls back on asking the kernel for the link type when the directory is not mounted.
int32_t causeway_interface_type(const char *directory, const char *name);

// The port registered for `service` and `protocol` ("tcp", "udp") in host byte order, or -1 when there is none.
int32_t causeway_service_port(const char *service, const char *protocol);

// Writes the text of an errno value, NUL-terminated and cut to fit. Always writes something when `size` > 0.
void causeway_error_text(int32_t code, char *text, size_t size);

#endif
