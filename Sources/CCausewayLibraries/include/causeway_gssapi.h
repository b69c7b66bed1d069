// Security contexts of GSSAPI (RFC 2743, RFC 2744) with the mechanism SPNEGO (RFC 4178), for the HTTP scheme Negotiate
// (RFC 4559). The library is loaded at run time. The build does not need it, and neither does a program that does not
// use Negotiate.
#ifndef CAUSEWAY_GSSAPI_H
#define CAUSEWAY_GSSAPI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Loads `libgssapi_krb5.so.2` once per process. Any thread may call it.
///
/// Returns NULL on success, else an error message with the package to install. The text stays valid until the process
/// ends.
const char *cw_gss_load(void);

/// Like `cw_gss_load` for a library with another name, but keeps nothing for later use. For tests.
///
/// Returns false and a text in `message` if the library or a function is missing.
bool cw_gss_probe(const char *name, char *message, size_t capacity);

typedef enum cw_gss_status {
    /// The caller must send the token to the peer. Then the peer's answer is expected.
    CW_GSS_CONTINUES,
    /// The security context is complete. The caller may still have to send a last token to the peer.
    CW_GSS_COMPLETE,
    /// There is no context. `cw_gss_problem` has the reason.
    CW_GSS_FAILED,
} cw_gss_status;

/// The security context of a client. Not thread-safe. Its functions can block while they contact servers.
typedef struct cw_gss_context cw_gss_context;

/// Creates a context for a service such as `HTTP@www.example.com`. Returns NULL if the library is not loaded or memory allocation fails.
///
/// `user` is the name of the client, or NULL for the default name of the system. `password` is the password, or NULL if the credential
/// cache of the system has a credential.
cw_gss_context *cw_gss_context_new(const char *service, const char *user, const char *password);
void cw_gss_context_free(cw_gss_context *context);

/// Continues with a token of the peer; `count` is 0 in the first step. The token to send stays valid until the next call with the context.
///
/// Credentials are never delegated to the peer.
cw_gss_status cw_gss_context_step(
    cw_gss_context *context, const uint8_t *input, size_t count, const uint8_t **token, size_t *token_count);

/// Returns the reason for CW_GSS_FAILED. Valid until the context is freed.
const char *cw_gss_problem(const cw_gss_context *context);

#endif
