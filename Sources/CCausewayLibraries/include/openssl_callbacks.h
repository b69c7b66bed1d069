// Types of the callback functions that OpenSSL calls.
#ifndef CAUSEWAY_OPENSSL_CALLBACKS_H
#define CAUSEWAY_OPENSSL_CALLBACKS_H

#include <stddef.h>

typedef void (*cw_any_callback)(void);
typedef void (*cw_free_callback)(void *object);
typedef int (*cw_verify_step_callback)(int accepted, X509_STORE_CTX *chain);
typedef int (*cw_verify_callback)(X509_STORE_CTX *chain, void *argument);
typedef int (*cw_alpn_callback)(
    SSL *ssl, const unsigned char **out, unsigned char *out_count, const unsigned char *offered, unsigned int count,
    void *argument);
typedef void (*cw_keylog_callback)(const SSL *ssl, const char *line);
typedef int (*cw_session_callback)(SSL *ssl, SSL_SESSION *session);
typedef unsigned int (*cw_psk_client_callback)(
    SSL *ssl, const char *hint, char *identity, unsigned int identity_capacity, unsigned char *key,
    unsigned int key_capacity);
typedef unsigned int (*cw_psk_server_callback)(
    SSL *ssl, const char *identity, unsigned char *key, unsigned int key_capacity);
typedef int (*cw_cookie_make_callback)(SSL *ssl, unsigned char *cookie, unsigned int *count);
typedef int (*cw_cookie_check_callback)(SSL *ssl, const unsigned char *cookie, unsigned int count);
typedef int (*cw_certificate_callback)(SSL *ssl, void *argument);
typedef int (*cw_status_callback)(SSL *ssl, void *argument);
typedef unsigned int (*cw_timer_callback)(SSL *ssl, unsigned int microseconds);
typedef void (*cw_message_callback)(
    int is_outgoing, int version, int content_type, const void *bytes, size_t count, SSL *ssl, void *argument);
typedef int (*cw_password_callback)(char *buffer, int capacity, int is_writing, void *argument);
typedef int (*cw_bio_write_callback)(BIO *bio, const char *bytes, int count);
typedef int (*cw_bio_read_callback)(BIO *bio, char *bytes, int capacity);
typedef long (*cw_bio_ctrl_callback)(BIO *bio, int command, long number, void *pointer);

#endif
