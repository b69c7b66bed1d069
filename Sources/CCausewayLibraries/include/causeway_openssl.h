// Access to OpenSSL 3, loaded at run time. Neither the build nor a program without TLS needs OpenSSL.
//
// `cw_openssl_load` looks up every function. After it succeeds, `cw_NAME(...)` calls OpenSSL's NAME. Do not call these functions earlier.
#ifndef CAUSEWAY_OPENSSL_H
#define CAUSEWAY_OPENSSL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "openssl_types.h"
#include "openssl_callbacks.h"
#include "openssl_constants.h"
#include "openssl_functions.h"

// MARK: Loading

/// Loads the libraries once per process. Later calls and calls on other threads return the result of the first call.
///
/// Returns NULL on success, else an error message with the package to install. The text stays valid until the process
/// ends.
const char *cw_openssl_load(void);

/// Like `cw_openssl_load` for libraries with other names, but does not use them later. For tests.
///
/// Returns false and a text in `message` if a library or function is missing or the version is wrong.
bool cw_openssl_probe(const char *crypto_name, const char *ssl_name, char *message, size_t capacity);

/// Loads the libraries and then the digests for NTLM, once per process: MD4 from OpenSSL's legacy provider, and MD5.
///
/// Returns NULL on success, else an error message with the package to install, like `cw_openssl_load`.
const char *cw_ntlm_digests_load(void);

/// Computes MD4. Call it only after `cw_ntlm_digests_load` succeeded. Returns false if OpenSSL failed.
bool cw_md4(const void *bytes, size_t count, unsigned char digest[16]);

/// Computes HMAC with MD5. Call it only after `cw_ntlm_digests_load` succeeded. Returns false if OpenSSL failed.
bool cw_hmac_md5(const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[16]);

// MARK: Calls

/// Pointers to all functions. Valid after loading and constant from then on.
typedef struct cw_openssl_table {
#define CW_FIELD(result, name, parameters, arguments) result (*name) parameters;
    CW_CRYPTO_FUNCTIONS(CW_FIELD)
    CW_SSL_FUNCTIONS(CW_FIELD)
#undef CW_FIELD
} cw_openssl_table;

extern cw_openssl_table cw_openssl;

#define CW_CALL(result, name, parameters, arguments) \
    static inline result cw_##name parameters { return cw_openssl.name arguments; }
CW_CRYPTO_FUNCTIONS(CW_CALL)
CW_SSL_FUNCTIONS(CW_CALL)
#undef CW_CALL

/// Frees bytes that OpenSSL allocated with `CRYPTO_malloc`.
static inline void cw_free(void *bytes) { cw_CRYPTO_free(bytes, "causeway", 0); }

/// Sets the OCSP status callback. OpenSSL has no separate function for this callback: its general function for
/// callbacks takes a function pointer of any type.
static inline long cw_set_status_callback(SSL_CTX *context, cw_status_callback callback) {
    return cw_SSL_CTX_callback_ctrl(context, CW_CTRL_SET_STATUS_CALLBACK, (cw_any_callback)callback);
}

static inline void cw_free_general_names(void *names) {
    cw_OPENSSL_sk_pop_free((OPENSSL_STACK *)names, (cw_free_callback)cw_openssl.GENERAL_NAME_free);
}

static inline void cw_free_certificates(void *certificates) {
    cw_OPENSSL_sk_pop_free((OPENSSL_STACK *)certificates, (cw_free_callback)cw_openssl.X509_free);
}

/// Converts a UTC time to seconds since 1970. Returns INT64_MIN if the time is malformed.
int64_t cw_seconds(const ASN1_TIME *time);

/// Password callback for `PEM_read_bio_*`: returns the string in `argument`. If the string is missing, it reports no password. It never
/// prompts on the terminal.
int cw_password(char *buffer, int capacity, int is_writing, void *argument);

// MARK: Pipes

/// The in-memory transport of one connection: received bytes and bytes to send.
///
/// Not thread-safe, like the connection that it belongs to.
typedef struct cw_pipe cw_pipe;

/// Creates a pipe. With datagrams, each write is kept separate and each read returns one. Returns NULL if memory allocation fails.
cw_pipe *cw_pipe_new(bool keeps_datagrams);
void cw_pipe_free(cw_pipe *pipe);
/// Creates a BIO for the pipe. The pipe must outlive the BIO. Returns NULL if memory allocation fails.
BIO *cw_pipe_bio(cw_pipe *pipe);

/// Lends `bytes` to the pipe, so that the pipe's reader can read them without a copy.
///
/// The bytes must stay valid until `cw_pipe_settle`, which copies the bytes that were not read.
void cw_pipe_lend(cw_pipe *pipe, const uint8_t *bytes, size_t count);
/// Ends the borrowing of bytes that `cw_pipe_lend` began. The bytes that were not read are copied into the pipe.
/// Returns false if memory allocation fails, or if the pipe would then hold more than `limit` unread bytes.
bool cw_pipe_settle(cw_pipe *pipe, size_t limit);
/// Marks the end of the input. Reads of a stream return the bytes that were already received, and then the end.
void cw_pipe_end(cw_pipe *pipe);
/// Pauses or resumes reading from the pipe. While `is_held` is set, reads return no data.
void cw_pipe_hold(cw_pipe *pipe, bool is_held);
/// Number of received bytes that were not read.
size_t cw_pipe_unread(const cw_pipe *pipe);
/// Whether a read would return nothing: neither bytes nor the end of the stream.
bool cw_pipe_is_dry(const cw_pipe *pipe);
/// Discards the bytes that have arrived and were not read.
void cw_pipe_discard(cw_pipe *pipe);

/// Returns the bytes to send; if the pipe keeps datagrams, only the first datagram. Valid until the next call with this pipe.
const uint8_t *cw_pipe_outgoing(const cw_pipe *pipe, size_t *count);
/// Removes the first `count` bytes to send. If the pipe keeps datagrams, removes the first datagram.
void cw_pipe_sent(cw_pipe *pipe, size_t count);
/// Number of all bytes to send.
size_t cw_pipe_unsent(const cw_pipe *pipe);

#endif
