// OpenSSL 3, found at run time: nothing of it is needed to build, and a program that never uses TLS runs without it.
//
// `cw_openssl_load` looks every function up. After it succeeded, `cw_NAME(...)` calls OpenSSL's NAME; before that, no such call
// may be made.
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

/// Loads the libraries, once per process; later calls and other threads get the first answer.
///
/// Returns NULL, or what is wrong and what to install. The text lives as long as the process.
const char *cw_openssl_load(void);

/// What `cw_openssl_load` does, with libraries of other names and without keeping anything: for tests.
///
/// Returns false and a text in `message` when a library or one of its functions is missing, or the version is another.
bool cw_openssl_probe(const char *crypto_name, const char *ssl_name, char *message, size_t capacity);

// MARK: Calls

/// Pointers to all functions. Valid after loading; never changed afterwards.
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

/// The bytes that an object points to, as OpenSSL's `unsigned char *` of `CRYPTO_malloc`.
static inline void cw_free(void *bytes) { cw_CRYPTO_free(bytes, "causeway", 0); }

/// Sets what answers status requests: a function pointer in a `long`-shaped door of OpenSSL's.
static inline long cw_set_status_callback(SSL_CTX *context, cw_status_callback callback) {
    return cw_SSL_CTX_callback_ctrl(context, CW_CTRL_SET_STATUS_CALLBACK, (cw_any_callback)callback);
}

static inline void cw_free_general_names(void *names) {
    cw_OPENSSL_sk_pop_free((OPENSSL_STACK *)names, (cw_free_callback)cw_openssl.GENERAL_NAME_free);
}

static inline void cw_free_certificates(void *certificates) {
    cw_OPENSSL_sk_pop_free((OPENSSL_STACK *)certificates, (cw_free_callback)cw_openssl.X509_free);
}

/// Seconds since 1970 of a time in UTC, or INT64_MIN when it cannot be read.
int64_t cw_seconds(const ASN1_TIME *time);

/// The password of `PEM_read_bio_*`: the string in `argument`. Without one the answer is "none", never a question on the terminal.
int cw_password(char *buffer, int capacity, int is_writing, void *argument);

// MARK: Pipes

/// The transport of one connection: bytes that arrived and bytes that are to leave, in memory.
///
/// Not safe for use by two threads at once, like the connection it belongs to.
typedef struct cw_pipe cw_pipe;

/// With datagrams, each write is kept apart and each read takes one. NULL when memory is short.
cw_pipe *cw_pipe_new(bool keeps_datagrams);
void cw_pipe_free(cw_pipe *pipe);
/// A BIO over the pipe, which must outlive it. NULL when memory is short.
BIO *cw_pipe_bio(cw_pipe *pipe);

/// Lends bytes to be read before `cw_pipe_settle`, which copies what is left.
void cw_pipe_lend(cw_pipe *pipe, const uint8_t *bytes, size_t count);
/// Ends the loan. False when memory is short or more than `limit` bytes would be kept.
bool cw_pipe_settle(cw_pipe *pipe, size_t limit);
/// After the bytes that are there comes the end.
void cw_pipe_end(cw_pipe *pipe);
/// While held, reads find nothing.
void cw_pipe_hold(cw_pipe *pipe, bool is_held);
/// Bytes that arrived and were not read.
size_t cw_pipe_unread(const cw_pipe *pipe);
/// Whether a read would find nothing for now, neither bytes nor the end.
bool cw_pipe_is_dry(const cw_pipe *pipe);
/// Drops what arrived and was not read.
void cw_pipe_discard(cw_pipe *pipe);

/// The bytes to send, of the first datagram if datagrams are kept. Valid until the pipe is used again.
const uint8_t *cw_pipe_outgoing(const cw_pipe *pipe, size_t *count);
/// Forgets bytes that were sent; with datagrams, the first one.
void cw_pipe_sent(cw_pipe *pipe, size_t count);
/// All bytes that wait to be sent.
size_t cw_pipe_unsent(const cw_pipe *pipe);

#endif
