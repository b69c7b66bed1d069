#define _GNU_SOURCE
#include "causeway_linux.h"
#include <netdb.h>
#include <string.h>

int cw_resolve(const char *name, int family, void (*found)(void *context, const cw_address *address), void *context) {
    struct addrinfo hints = {.ai_family = family == CW_IPV4 ? AF_INET : family == CW_IPV6 ? AF_INET6 : AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int result = getaddrinfo(name, NULL, &hints, &list);
    if (result != 0) {
        switch (result) {
        case EAI_AGAIN: return CW_NAME_TRY_AGAIN;
        case EAI_NONAME: return CW_NAME_NOT_FOUND;
#ifdef EAI_NODATA
        case EAI_NODATA: return CW_NAME_NOT_FOUND;
#endif
        default: return CW_NAME_FAILED;
        }
    }
    for (struct addrinfo *entry = list; entry; entry = entry->ai_next) {
        if (entry->ai_addrlen > sizeof(struct sockaddr_storage)) continue;
        cw_address address = {.length = entry->ai_addrlen};
        memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
        found(context, &address);
    }
    freeaddrinfo(list);
    return CW_NAME_OK;
}
