// All OpenSSL 3 functions in use, as F(result, name, parameters, arguments). The two lists CW_CRYPTO_FUNCTIONS and
// CW_SSL_FUNCTIONS generate the function table, the calls, the lookups, and the comparison with the installed headers.
#ifndef CAUSEWAY_OPENSSL_FUNCTIONS_H
#define CAUSEWAY_OPENSSL_FUNCTIONS_H

// clang-format off
/// From libcrypto.so.3.
#define CW_CRYPTO_FUNCTIONS(F) \
    F(unsigned long, OpenSSL_version_num, (void), ()) \
    F(const char *, OpenSSL_version, (int a), (a)) \
    F(void *, CRYPTO_malloc, (size_t a, const char *b, int c), (a, b, c)) \
    F(void, CRYPTO_free, (void *a, const char *b, int c), (a, b, c)) \
    F(unsigned long, ERR_get_error, (void), ()) \
    F(unsigned long, ERR_peek_error, (void), ()) \
    F(void, ERR_clear_error, (void), ()) \
    F(void, ERR_error_string_n, (unsigned long a, char *b, size_t c), (a, b, c)) \
    F(const char *, ERR_reason_error_string, (unsigned long a), (a)) \
    F(int, RAND_bytes, (unsigned char *a, int b), (a, b)) \
    /* BIO */ \
    F(int, BIO_get_new_index, (void), ()) \
    F(BIO_METHOD *, BIO_meth_new, (int a, const char *b), (a, b)) \
    F(int, BIO_meth_set_write, (BIO_METHOD *a, cw_bio_write_callback b), (a, b)) \
    F(int, BIO_meth_set_read, (BIO_METHOD *a, cw_bio_read_callback b), (a, b)) \
    F(int, BIO_meth_set_ctrl, (BIO_METHOD *a, cw_bio_ctrl_callback b), (a, b)) \
    F(BIO *, BIO_new, (const BIO_METHOD *a), (a)) \
    F(int, BIO_free, (BIO *a), (a)) \
    F(void, BIO_set_data, (BIO *a, void *b), (a, b)) \
    F(void *, BIO_get_data, (BIO *a), (a)) \
    F(void, BIO_set_init, (BIO *a, int b), (a, b)) \
    F(void, BIO_set_flags, (BIO *a, int b), (a, b)) \
    F(void, BIO_clear_flags, (BIO *a, int b), (a, b)) \
    F(const BIO_METHOD *, BIO_s_mem, (void), ()) \
    F(BIO *, BIO_new_mem_buf, (const void *a, int b), (a, b)) \
    F(long, BIO_ctrl, (BIO *a, int b, long c, void *d), (a, b, c, d)) \
    /* Stacks */ \
    F(OPENSSL_STACK *, OPENSSL_sk_new_null, (void), ()) \
    F(int, OPENSSL_sk_num, (const OPENSSL_STACK *a), (a)) \
    F(void *, OPENSSL_sk_value, (const OPENSSL_STACK *a, int b), (a, b)) \
    F(int, OPENSSL_sk_push, (OPENSSL_STACK *a, const void *b), (a, b)) \
    F(void, OPENSSL_sk_free, (OPENSSL_STACK *a), (a)) \
    F(void, OPENSSL_sk_pop_free, (OPENSSL_STACK *a, cw_free_callback b), (a, b)) \
    /* Reading certificates and keys */ \
    F(X509 *, PEM_read_bio_X509, (BIO *a, X509 **b, cw_password_callback c, void *d), (a, b, c, d)) \
    F(EVP_PKEY *, PEM_read_bio_PrivateKey, (BIO *a, EVP_PKEY **b, cw_password_callback c, void *d), (a, b, c, d)) \
    F(X509 *, d2i_X509, (X509 **a, const unsigned char **b, long c), (a, b, c)) \
    F(int, i2d_X509, (const X509 *a, unsigned char **b), (a, b)) \
    F(EVP_PKEY *, d2i_AutoPrivateKey, (EVP_PKEY **a, const unsigned char **b, long c), (a, b, c)) \
    F(int, i2d_PrivateKey, (const EVP_PKEY *a, unsigned char **b), (a, b)) \
    F(PKCS12 *, d2i_PKCS12, (PKCS12 **a, const unsigned char **b, long c), (a, b, c)) \
    F(int, i2d_PKCS12, (const PKCS12 *a, unsigned char **b), (a, b)) \
    F(int, PKCS12_parse, (PKCS12 *a, const char *b, EVP_PKEY **c, X509 **d, struct stack_st_X509 **e), (a, b, c, d, e)) \
    F(PKCS12 *, PKCS12_create, (const char *a, const char *b, EVP_PKEY *c, X509 *d, struct stack_st_X509 *e, int f, int g, int h, int i, int j), (a, b, c, d, e, f, g, h, i, j)) \
    F(void, PKCS12_free, (PKCS12 *a), (a)) \
    /* Certificates */ \
    F(int, X509_up_ref, (X509 *a), (a)) \
    F(void, X509_free, (X509 *a), (a)) \
    F(X509_NAME *, X509_get_subject_name, (const X509 *a), (a)) \
    F(X509_NAME *, X509_get_issuer_name, (const X509 *a), (a)) \
    F(int, X509_NAME_print_ex, (BIO *a, const X509_NAME *b, int c, unsigned long d), (a, b, c, d)) \
    F(int, i2d_X509_NAME, (const X509_NAME *a, unsigned char **b), (a, b)) \
    F(const ASN1_TIME *, X509_get0_notBefore, (const X509 *a), (a)) \
    F(const ASN1_TIME *, X509_get0_notAfter, (const X509 *a), (a)) \
    F(int, ASN1_TIME_to_tm, (const ASN1_TIME *a, struct tm *b), (a, b)) \
    F(const ASN1_INTEGER *, X509_get0_serialNumber, (const X509 *a), (a)) \
    F(void *, X509_get_ext_d2i, (const X509 *a, int b, int *c, int *d), (a, b, c, d)) \
    F(int, X509_get_ext_by_NID, (const X509 *a, int b, int c), (a, b, c)) \
    F(X509_EXTENSION *, X509_get_ext, (const X509 *a, int b), (a, b)) \
    F(ASN1_OCTET_STRING *, X509_EXTENSION_get_data, (X509_EXTENSION *a), (a)) \
    F(uint32_t, X509_get_extension_flags, (X509 *a), (a)) \
    F(EVP_PKEY *, X509_get0_pubkey, (const X509 *a), (a)) \
    F(X509_PUBKEY *, X509_get_X509_PUBKEY, (const X509 *a), (a)) \
    F(int, i2d_X509_PUBKEY, (const X509_PUBKEY *a, unsigned char **b), (a, b)) \
    F(int, X509_get_signature_nid, (const X509 *a), (a)) \
    F(int, X509_check_private_key, (const X509 *a, const EVP_PKEY *b), (a, b)) \
    F(const char *, OBJ_nid2ln, (int a), (a)) \
    F(void *, GENERAL_NAME_get0_value, (const GENERAL_NAME *a, int *b), (a, b)) \
    F(void, GENERAL_NAME_free, (GENERAL_NAME *a), (a)) \
    F(const unsigned char *, ASN1_STRING_get0_data, (const ASN1_STRING *a), (a)) \
    F(int, ASN1_STRING_length, (const ASN1_STRING *a), (a)) \
    /* Chains */ \
    F(int, X509_verify, (X509 *a, EVP_PKEY *b), (a, b)) \
    F(int, X509_get_signature_info, (X509 *a, int *b, int *c, int *d, uint32_t *e), (a, b, c, d, e)) \
    F(X509_STORE *, X509_STORE_new, (void), ()) \
    F(int, X509_STORE_set_flags, (X509_STORE *a, unsigned long b), (a, b)) \
    F(void, X509_STORE_free, (X509_STORE *a), (a)) \
    F(int, X509_STORE_add_cert, (X509_STORE *a, X509 *b), (a, b)) \
    F(void, X509_STORE_CTX_set_error, (X509_STORE_CTX *a, int b), (a, b)) \
    F(X509 *, X509_STORE_CTX_get0_cert, (const X509_STORE_CTX *a), (a)) \
    F(struct stack_st_X509 *, X509_STORE_CTX_get0_untrusted, (const X509_STORE_CTX *a), (a)) \
    F(void *, X509_STORE_CTX_get_ex_data, (const X509_STORE_CTX *a, int b), (a, b)) \
    /* OCSP responses (RFC 6960) */ \
    F(OCSP_RESPONSE *, d2i_OCSP_RESPONSE, (OCSP_RESPONSE **a, const unsigned char **b, long c), (a, b, c)) \
    F(int, OCSP_response_status, (OCSP_RESPONSE *a), (a)) \
    F(OCSP_BASICRESP *, OCSP_response_get1_basic, (OCSP_RESPONSE *a), (a)) \
    F(void, OCSP_RESPONSE_free, (OCSP_RESPONSE *a), (a)) \
    F(void, OCSP_BASICRESP_free, (OCSP_BASICRESP *a), (a)) \
    F(int, OCSP_basic_verify, (OCSP_BASICRESP *a, struct stack_st_X509 *b, X509_STORE *c, unsigned long d), (a, b, c, d)) \
    F(OCSP_CERTID *, OCSP_cert_to_id, (const EVP_MD *a, const X509 *b, const X509 *c), (a, b, c)) \
    F(void, OCSP_CERTID_free, (OCSP_CERTID *a), (a)) \
    F(int, i2d_OCSP_CERTID, (const OCSP_CERTID *a, unsigned char **b), (a, b)) \
    F(int, OCSP_resp_find_status, (OCSP_BASICRESP *a, OCSP_CERTID *b, int *c, int *d, ASN1_GENERALIZEDTIME **e, ASN1_GENERALIZEDTIME **f, ASN1_GENERALIZEDTIME **g), (a, b, c, d, e, f, g)) \
    /* Keys, digests and signatures */ \
    F(void, EVP_PKEY_free, (EVP_PKEY *a), (a)) \
    F(int, EVP_PKEY_up_ref, (EVP_PKEY *a), (a)) \
    F(int, EVP_PKEY_get_bits, (const EVP_PKEY *a), (a)) \
    F(const char *, EVP_PKEY_get0_type_name, (const EVP_PKEY *a), (a)) \
    F(int, i2d_PUBKEY, (const EVP_PKEY *a, unsigned char **b), (a, b)) \
    F(EVP_PKEY *, d2i_PUBKEY, (EVP_PKEY **a, const unsigned char **b, long c), (a, b, c)) \
    F(EVP_PKEY_CTX *, EVP_PKEY_CTX_new_from_name, (OSSL_LIB_CTX *a, const char *b, const char *c), (a, b, c)) \
    F(EVP_PKEY_CTX *, EVP_PKEY_CTX_new_from_pkey, (OSSL_LIB_CTX *a, EVP_PKEY *b, const char *c), (a, b, c)) \
    F(void, EVP_PKEY_CTX_free, (EVP_PKEY_CTX *a), (a)) \
    F(int, EVP_PKEY_keygen_init, (EVP_PKEY_CTX *a), (a)) \
    F(int, EVP_PKEY_CTX_ctrl_str, (EVP_PKEY_CTX *a, const char *b, const char *c), (a, b, c)) \
    F(int, EVP_PKEY_generate, (EVP_PKEY_CTX *a, EVP_PKEY **b), (a, b)) \
    F(int, EVP_PKEY_get_security_bits, (const EVP_PKEY *a), (a)) \
    F(int, EVP_PKEY_private_check, (EVP_PKEY_CTX *a), (a)) \
    F(int, EVP_PKEY_sign_init, (EVP_PKEY_CTX *a), (a)) \
    F(int, EVP_PKEY_sign, (EVP_PKEY_CTX *a, unsigned char *b, size_t *c, const unsigned char *d, size_t e), (a, b, c, d, e)) \
    F(int, EVP_PKEY_verify_init, (EVP_PKEY_CTX *a), (a)) \
    F(int, EVP_PKEY_verify, (EVP_PKEY_CTX *a, const unsigned char *b, size_t c, const unsigned char *d, size_t e), (a, b, c, d, e)) \
    F(const EVP_MD *, EVP_sha1, (void), ()) \
    F(const EVP_MD *, EVP_sha224, (void), ()) \
    F(const EVP_MD *, EVP_sha256, (void), ()) \
    F(const EVP_MD *, EVP_sha384, (void), ()) \
    F(const EVP_MD *, EVP_sha512, (void), ()) \
    F(int, EVP_Digest, (const void *a, size_t b, unsigned char *c, unsigned int *d, const EVP_MD *e, ENGINE *f), (a, b, c, d, e, f)) \
    F(EVP_MD_CTX *, EVP_MD_CTX_new, (void), ()) \
    F(void, EVP_MD_CTX_free, (EVP_MD_CTX *a), (a)) \
    F(OSSL_LIB_CTX *, OSSL_LIB_CTX_new, (void), ()) \
    F(OSSL_PROVIDER *, OSSL_PROVIDER_load, (OSSL_LIB_CTX *a, const char *b), (a, b)) \
    F(EVP_MD *, EVP_MD_fetch, (OSSL_LIB_CTX *a, const char *b, const char *c), (a, b, c)) \
    F(int, EVP_DigestInit_ex, (EVP_MD_CTX *a, const EVP_MD *b, ENGINE *c), (a, b, c)) \
    F(int, EVP_DigestUpdate, (EVP_MD_CTX *a, const void *b, size_t c), (a, b, c)) \
    F(int, EVP_DigestFinal_ex, (EVP_MD_CTX *a, unsigned char *b, unsigned int *c), (a, b, c)) \
    F(unsigned char *, HMAC, (const EVP_MD *a, const void *b, int c, const unsigned char *d, size_t e, unsigned char *f, unsigned int *g), (a, b, c, d, e, f, g)) \
    F(int, EVP_DigestSignInit, (EVP_MD_CTX *a, EVP_PKEY_CTX **b, const EVP_MD *c, ENGINE *d, EVP_PKEY *e), (a, b, c, d, e)) \
    F(int, EVP_DigestSign, (EVP_MD_CTX *a, unsigned char *b, size_t *c, const unsigned char *d, size_t e), (a, b, c, d, e)) \
    F(int, EVP_DigestVerifyInit, (EVP_MD_CTX *a, EVP_PKEY_CTX **b, const EVP_MD *c, ENGINE *d, EVP_PKEY *e), (a, b, c, d, e)) \
    F(int, EVP_DigestVerify, (EVP_MD_CTX *a, const unsigned char *b, size_t c, const unsigned char *d, size_t e), (a, b, c, d, e)) \
    /* Ciphers */ \
    F(const EVP_CIPHER *, EVP_aes_128_ecb, (void), ()) \
    F(const EVP_CIPHER *, EVP_aes_128_gcm, (void), ()) \
    F(EVP_CIPHER_CTX *, EVP_CIPHER_CTX_new, (void), ()) \
    F(void, EVP_CIPHER_CTX_free, (EVP_CIPHER_CTX *a), (a)) \
    F(int, EVP_CIPHER_CTX_ctrl, (EVP_CIPHER_CTX *a, int b, int c, void *d), (a, b, c, d)) \
    F(int, EVP_CipherInit_ex, (EVP_CIPHER_CTX *a, const EVP_CIPHER *b, ENGINE *c, const unsigned char *d, const unsigned char *e, int f), (a, b, c, d, e, f)) \
    F(int, EVP_CipherUpdate, (EVP_CIPHER_CTX *a, unsigned char *b, int *c, const unsigned char *d, int e), (a, b, c, d, e)) \
    F(int, EVP_CipherFinal_ex, (EVP_CIPHER_CTX *a, unsigned char *b, int *c), (a, b, c))

/// Functions of libssl.so.3.
#define CW_SSL_FUNCTIONS(F) \
    F(const SSL_METHOD *, TLS_method, (void), ()) \
    F(const SSL_METHOD *, DTLS_method, (void), ()) \
    F(int, OPENSSL_init_ssl, (uint64_t a, const OPENSSL_INIT_SETTINGS *b), (a, b)) \
    /* Contexts */ \
    F(SSL_CTX *, SSL_CTX_new, (const SSL_METHOD *a), (a)) \
    F(void, SSL_CTX_free, (SSL_CTX *a), (a)) \
    F(long, SSL_CTX_ctrl, (SSL_CTX *a, int b, long c, void *d), (a, b, c, d)) \
    F(long, SSL_CTX_callback_ctrl, (SSL_CTX *a, int b, cw_any_callback c), (a, b, c)) \
    F(uint64_t, SSL_CTX_set_options, (SSL_CTX *a, uint64_t b), (a, b)) \
    F(uint64_t, SSL_CTX_clear_options, (SSL_CTX *a, uint64_t b), (a, b)) \
    F(int, SSL_CTX_set_cipher_list, (SSL_CTX *a, const char *b), (a, b)) \
    F(int, SSL_CTX_set_ciphersuites, (SSL_CTX *a, const char *b), (a, b)) \
    F(struct stack_st_SSL_CIPHER *, SSL_CTX_get_ciphers, (const SSL_CTX *a), (a)) \
    F(void, SSL_CTX_set_security_level, (SSL_CTX *a, int b), (a, b)) \
    F(void, SSL_CTX_set_verify, (SSL_CTX *a, int b, cw_verify_step_callback c), (a, b, c)) \
    F(void, SSL_CTX_set_cert_verify_callback, (SSL_CTX *a, cw_verify_callback b, void *c), (a, b, c)) \
    F(int, SSL_CTX_set_alpn_protos, (SSL_CTX *a, const unsigned char *b, unsigned int c), (a, b, c)) \
    F(void, SSL_CTX_set_alpn_select_cb, (SSL_CTX *a, cw_alpn_callback b, void *c), (a, b, c)) \
    F(void, SSL_CTX_set_msg_callback, (SSL_CTX *a, cw_message_callback b), (a, b)) \
    F(void, SSL_CTX_set_keylog_callback, (SSL_CTX *a, cw_keylog_callback b), (a, b)) \
    F(void, SSL_CTX_sess_set_new_cb, (SSL_CTX *a, cw_session_callback b), (a, b)) \
    F(int, SSL_CTX_use_cert_and_key, (SSL_CTX *a, X509 *b, EVP_PKEY *c, struct stack_st_X509 *d, int e), (a, b, c, d, e)) \
    F(void, SSL_CTX_set_psk_client_callback, (SSL_CTX *a, cw_psk_client_callback b), (a, b)) \
    F(void, SSL_CTX_set_psk_server_callback, (SSL_CTX *a, cw_psk_server_callback b), (a, b)) \
    F(int, SSL_CTX_use_psk_identity_hint, (SSL_CTX *a, const char *b), (a, b)) \
    F(int, SSL_CTX_set_session_id_context, (SSL_CTX *a, const unsigned char *b, unsigned int c), (a, b, c)) \
    F(int, SSL_CTX_set_num_tickets, (SSL_CTX *a, size_t b), (a, b)) \
    F(int, SSL_CTX_set_max_early_data, (SSL_CTX *a, uint32_t b), (a, b)) \
    F(long, SSL_CTX_set_timeout, (SSL_CTX *a, long b), (a, b)) \
    F(void, SSL_CTX_set_cookie_generate_cb, (SSL_CTX *a, cw_cookie_make_callback b), (a, b)) \
    F(void, SSL_CTX_set_cookie_verify_cb, (SSL_CTX *a, cw_cookie_check_callback b), (a, b)) \
    F(int, SSL_CTX_add1_to_CA_list, (SSL_CTX *a, const X509 *b), (a, b)) \
    /* Connections */ \
    F(SSL *, SSL_new, (SSL_CTX *a), (a)) \
    F(void, SSL_free, (SSL *a), (a)) \
    F(void, SSL_set_bio, (SSL *a, BIO *b, BIO *c), (a, b, c)) \
    F(void, SSL_set_connect_state, (SSL *a), (a)) \
    F(void, SSL_set_accept_state, (SSL *a), (a)) \
    F(int, SSL_do_handshake, (SSL *a), (a)) \
    F(int, SSL_read_ex, (SSL *a, void *b, size_t c, size_t *d), (a, b, c, d)) \
    F(int, SSL_write_ex, (SSL *a, const void *b, size_t c, size_t *d), (a, b, c, d)) \
    F(int, SSL_read_early_data, (SSL *a, void *b, size_t c, size_t *d), (a, b, c, d)) \
    F(int, SSL_write_early_data, (SSL *a, const void *b, size_t c, size_t *d), (a, b, c, d)) \
    F(int, SSL_get_early_data_status, (const SSL *a), (a)) \
    F(int, SSL_shutdown, (SSL *a), (a)) \
    F(int, SSL_get_shutdown, (const SSL *a), (a)) \
    F(void, SSL_set_shutdown, (SSL *a, int b), (a, b)) \
    F(int, SSL_get_error, (const SSL *a, int b), (a, b)) \
    F(int, SSL_set_ex_data, (SSL *a, int b, void *c), (a, b, c)) \
    F(void *, SSL_get_ex_data, (const SSL *a, int b), (a, b)) \
    F(long, SSL_ctrl, (SSL *a, int b, long c, void *d), (a, b, c, d)) \
    F(void, SSL_set_cert_cb, (SSL *a, cw_certificate_callback b, void *c), (a, b, c)) \
    F(int, SSL_use_cert_and_key, (SSL *a, X509 *b, EVP_PKEY *c, struct stack_st_X509 *d, int e), (a, b, c, d, e)) \
    F(void, SSL_set_msg_callback, (SSL *a, cw_message_callback b), (a, b)) \
    F(int, SSL_in_init, (const SSL *a), (a)) \
    F(int, SSL_has_pending, (const SSL *a), (a)) \
    F(int, SSL_version, (const SSL *a), (a)) \
    F(const SSL_CIPHER *, SSL_get_current_cipher, (const SSL *a), (a)) \
    F(uint16_t, SSL_CIPHER_get_protocol_id, (const SSL_CIPHER *a), (a)) \
    F(const char *, SSL_CIPHER_get_name, (const SSL_CIPHER *a), (a)) \
    F(void, SSL_get0_alpn_selected, (const SSL *a, const unsigned char **b, unsigned int *c), (a, b, c)) \
    F(const char *, SSL_get_servername, (const SSL *a, int b), (a, b)) \
    F(struct stack_st_X509 *, SSL_get_peer_cert_chain, (const SSL *a), (a)) \
    F(X509 *, SSL_get0_peer_certificate, (const SSL *a), (a)) \
    F(const struct stack_st_X509_NAME *, SSL_get0_peer_CA_list, (const SSL *a), (a)) \
    F(int, SSL_get_sigalgs, (SSL *a, int b, int *c, int *d, int *e, unsigned char *f, unsigned char *g), (a, b, c, d, e, f, g)) \
    F(int, SSL_export_keying_material, (SSL *a, unsigned char *b, size_t c, const char *d, size_t e, const unsigned char *f, size_t g, int h), (a, b, c, d, e, f, g, h)) \
    F(int, SSL_key_update, (SSL *a, int b), (a, b)) \
    F(int, SSL_get_ex_data_X509_STORE_CTX_idx, (void), ()) \
    F(void, DTLS_set_timer_cb, (SSL *a, cw_timer_callback b), (a, b)) \
    F(size_t, DTLS_get_data_mtu, (const SSL *a), (a)) \
    /* Sessions */ \
    F(int, SSL_session_reused, (const SSL *a), (a)) \
    F(int, SSL_set_session, (SSL *a, SSL_SESSION *b), (a, b)) \
    F(SSL_SESSION *, SSL_get_session, (const SSL *a), (a)) \
    F(void, SSL_SESSION_free, (SSL_SESSION *a), (a)) \
    F(int, SSL_SESSION_is_resumable, (const SSL_SESSION *a), (a)) \
    F(uint32_t, SSL_SESSION_get_max_early_data, (const SSL_SESSION *a), (a)) \
    F(void, SSL_SESSION_get0_alpn_selected, (const SSL_SESSION *a, const unsigned char **b, size_t *c), (a, b, c)) \
    F(int, SSL_SESSION_get_protocol_version, (const SSL_SESSION *a), (a)) \
    F(long, SSL_SESSION_get_time, (const SSL_SESSION *a), (a)) \
    F(long, SSL_SESSION_get_timeout, (const SSL_SESSION *a), (a))
// clang-format on

#endif
