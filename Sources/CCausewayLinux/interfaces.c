// Makes glibc and musl declare the POSIX version of strerror_r, not the GNU version.
#undef _GNU_SOURCE
#define _DEFAULT_SOURCE 1
#define _POSIX_C_SOURCE 200809L

#include "interfaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(IF_NAMESIZE == CAUSEWAY_INTERFACE_NAME_SIZE, "the header's name size must be the kernel's");

// <net/if_arp.h> has these constants, but their names differ between libcs. The values are kernel ABI.
enum {
    link_ethernet = 1,
    link_loopback = 772,
    link_wifi = 801,
    link_wifi_prism = 802,
    link_wifi_radiotap = 803,
};

// Whether a name can be used as one path component. Such a name cannot lead out of the directory.
static int is_plain_name(const char *name) {
    size_t length = strnlen(name, CAUSEWAY_INTERFACE_NAME_SIZE);
    return length > 0 && length < CAUSEWAY_INTERFACE_NAME_SIZE && strchr(name, '/') == NULL && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

uint32_t causeway_interface_index(const char *name) {
    return is_plain_name(name) ? if_nametoindex(name) : 0;
}

int32_t causeway_interface_name(uint32_t index, char name[CAUSEWAY_INTERFACE_NAME_SIZE]) {
    name[0] = '\0';
    return if_indextoname(index, name) == NULL ? -1 : 0;
}

static int format_path(char *path, size_t size, const char *directory, const char *name, const char *file) {
    int length = snprintf(path, size, "%s/%s/%s", directory, name, file);
    return length > 0 && (size_t)length < size;
}

// Reads up to `size` - 1 bytes of a small file. Returns the number of bytes, or -1.
static ssize_t read_file(const char *directory, const char *name, const char *file, char *text, size_t size) {
    char path[512];
    if (!format_path(path, sizeof path, directory, name, file)) return -1;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return -1;
    ssize_t count;
    do {
        count = read(descriptor, text, size - 1);
    } while (count < 0 && errno == EINTR);
    close(descriptor);
    text[count < 0 ? 0 : count] = '\0';
    return count;
}

static int has_file(const char *directory, const char *name, const char *file) {
    char path[512];
    struct stat status;
    return format_path(path, sizeof path, directory, name, file) && stat(path, &status) == 0;
}

// Returns the ARPHRD_* value from the kernel; -1 on an error.
static int ask_link_type(const char *name) {
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, name, strnlen(name, sizeof request.ifr_name - 1));
    int status = ioctl(descriptor, SIOCGIFHWADDR, &request);
    close(descriptor);
    return status == 0 ? request.ifr_hwaddr.sa_family : -1;
}

// Copies the value from the line `DEVTYPE=...` of a uevent file. Copies an empty string if there is no such line.
static void find_device_type(const char *uevent, char *value, size_t size) {
    static const char key[] = "DEVTYPE=";
    value[0] = '\0';
    for (const char *line = uevent; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length >= sizeof key - 1 && strncmp(line, key, sizeof key - 1) == 0) {
            snprintf(value, size, "%.*s", (int)(length - (sizeof key - 1)), line + sizeof key - 1);
            return;
        }
        line += length;
        if (*line == '\n') line += 1;
    }
}

// Returns 1 if a DEVTYPE is a single Ethernet device, or a virtual device on top of one. Returns 0 for all others, such
// as a bridge.
static int is_wired_device_type(const char *type) {
    static const char *const wired[] = {"", "vlan", "dsa", "macvlan", "ipvlan"};
    for (size_t i = 0; i < sizeof wired / sizeof wired[0]; i += 1) {
        if (strcmp(type, wired[i]) == 0) return 1;
    }
    return 0;
}

// Returns whether the driver is a modem driver. This check is needed because some modem drivers do not set
// DEVTYPE=wwan.
static int has_modem_driver(const char *directory, const char *name) {
    static const char *const modems[] = {"qmi_wwan", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "mtk_t7xx", "iosm"};
    char path[512];
    char target[512];
    if (!format_path(path, sizeof path, directory, name, "device/driver")) return 0;
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0) return 0;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    const char *driver = slash == NULL ? target : slash + 1;
    for (size_t i = 0; i < sizeof modems / sizeof modems[0]; i += 1) {
        if (strcmp(driver, modems[i]) == 0) return 1;
    }
    return 0;
}

// Guesses an interface's type from its name, if nothing else distinguishes it from Ethernet.
static int32_t type_by_name(const char *name) {
    if (strncmp(name, "wl", 2) == 0 || strncmp(name, "wifi", 4) == 0) return CAUSEWAY_INTERFACE_WIFI;
    if (strncmp(name, "ww", 2) == 0) return CAUSEWAY_INTERFACE_CELLULAR;
    return CAUSEWAY_INTERFACE_WIRED;
}

int32_t causeway_interface_type(const char *directory, const char *name) {
    if (!is_plain_name(name)) return CAUSEWAY_INTERFACE_OTHER;
    char text[1024];
    char device_type[32];
    int link = read_file(directory, name, "type", text, sizeof text) > 0 ? atoi(text) : ask_link_type(name);
    if (read_file(directory, name, "uevent", text, sizeof text) < 0) text[0] = '\0';
    find_device_type(text, device_type, sizeof device_type);

    if (link == link_loopback) return CAUSEWAY_INTERFACE_LOOPBACK;
    if (strcmp(device_type, "wwan") == 0) return CAUSEWAY_INTERFACE_CELLULAR;
    if (strcmp(device_type, "wlan") == 0 || has_file(directory, name, "wireless") ||
        has_file(directory, name, "phy80211") || (link >= link_wifi && link <= link_wifi_radiotap))
        return CAUSEWAY_INTERFACE_WIFI;
    if (has_modem_driver(directory, name)) return CAUSEWAY_INTERFACE_CELLULAR;
    // The kernel also reports a tap device as Ethernet, but its other end is a program and not a cable.
    if (link == link_ethernet && is_wired_device_type(device_type) && !has_file(directory, name, "tun_flags"))
        return device_type[0] == '\0' ? type_by_name(name) : CAUSEWAY_INTERFACE_WIRED;
    return CAUSEWAY_INTERFACE_OTHER;
}

int32_t causeway_service_port(const char *service, const char *protocol) {
    struct servent entry;
    struct servent *found = NULL;
    char buffer[2048];
    if (getservbyname_r(service, protocol, &entry, buffer, sizeof buffer, &found) != 0 || found == NULL) return -1;
    return ntohs((uint16_t)found->s_port);
}

void causeway_error_text(int32_t code, char *text, size_t size) {
    if (size == 0) return;
    text[0] = '\0';
    (void)strerror_r(code, text, size);
    if (text[0] == '\0') snprintf(text, size, "Unknown error %d", code);
}
