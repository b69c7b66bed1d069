#define _GNU_SOURCE
#include "causeway_linux.h"
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

// Both families use the same calls (RFC 3678 §5) with different levels.
static int change_group(int fd, const cw_address *group, uint32_t interface, const cw_address *source, bool joins) {
    int level = group->storage.ss_family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
    int result;
    if (source) {
        struct group_source_req request;
        memset(&request, 0, sizeof request);
        request.gsr_interface = interface;
        request.gsr_group = group->storage;
        request.gsr_source = source->storage;
        int name = joins ? MCAST_JOIN_SOURCE_GROUP : MCAST_LEAVE_SOURCE_GROUP;
        result = setsockopt(fd, level, name, &request, sizeof request);
    } else {
        struct group_req request;
        memset(&request, 0, sizeof request);
        request.gr_interface = interface;
        request.gr_group = group->storage;
        result = setsockopt(fd, level, joins ? MCAST_JOIN_GROUP : MCAST_LEAVE_GROUP, &request, sizeof request);
    }
    return result < 0 ? -errno : 0;
}

int cw_join_group(int fd, const cw_address *group, uint32_t interface, const cw_address *source) {
    return change_group(fd, group, interface, source, true);
}

int cw_leave_group(int fd, const cw_address *group, uint32_t interface, const cw_address *source) {
    return change_group(fd, group, interface, source, false);
}
