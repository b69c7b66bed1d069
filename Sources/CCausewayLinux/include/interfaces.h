#ifndef CAUSEWAY_INTERFACES_H
#define CAUSEWAY_INTERFACES_H

#include <stddef.h>
#include <stdint.h>

// Size of a buffer for an interface name and its terminating NUL, as in the kernel.
#define CAUSEWAY_INTERFACE_NAME_SIZE 16

// The types of interfaces. The values are stable: Swift switches over them.
#define CAUSEWAY_INTERFACE_OTHER 0
#define CAUSEWAY_INTERFACE_WIFI 1
#define CAUSEWAY_INTERFACE_CELLULAR 2
#define CAUSEWAY_INTERFACE_WIRED 3
#define CAUSEWAY_INTERFACE_LOOPBACK 4

// Returns the kernel's index of the interface `name`, or 0 if there is none.
uint32_t causeway_interface_index(const char *name);

// Writes the name of interface `index`, NUL-terminated. Returns 0, or -1 if there is no such interface.
int32_t causeway_interface_name(uint32_t index, char name[CAUSEWAY_INTERFACE_NAME_SIZE]);

// Determines the type of `name` from `directory` (normally /sys/class/net). Returns one of CAUSEWAY_INTERFACE_*. If the directory is not
// mounted, the kernel's link type decides.
int32_t causeway_interface_type(const char *directory, const char *name);

// Returns the port registered for `service` and `protocol` ("tcp", "udp") in host byte order, or -1 if there is none.
int32_t causeway_service_port(const char *service, const char *protocol);

// Writes the text of an errno value, NUL-terminated and truncated to fit. The text is never empty if `size` > 0.
void causeway_error_text(int32_t code, char *text, size_t size);

#endif
