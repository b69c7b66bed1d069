// OpenSSL's types as opaque structures. The tags are those of OpenSSL's headers, so that a test can compare both.
#ifndef CAUSEWAY_OPENSSL_TYPES_H
#define CAUSEWAY_OPENSSL_TYPES_H

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct ssl_method_st SSL_METHOD;
typedef struct ssl_session_st SSL_SESSION;
typedef struct ssl_cipher_st SSL_CIPHER;
typedef struct ossl_init_settings_st OPENSSL_INIT_SETTINGS;
typedef struct ossl_lib_ctx_st OSSL_LIB_CTX;
typedef struct ossl_provider_st OSSL_PROVIDER;
typedef struct bio_st BIO;
typedef struct bio_method_st BIO_METHOD;
typedef struct stack_st OPENSSL_STACK;
typedef struct x509_st X509;
typedef struct X509_name_st X509_NAME;
typedef struct X509_pubkey_st X509_PUBKEY;
typedef struct X509_extension_st X509_EXTENSION;
typedef struct x509_store_st X509_STORE;
typedef struct x509_store_ctx_st X509_STORE_CTX;
typedef struct GENERAL_NAME_st GENERAL_NAME;
typedef struct PKCS12_st PKCS12;
typedef struct asn1_string_st ASN1_STRING;
typedef struct asn1_string_st ASN1_INTEGER;
typedef struct asn1_string_st ASN1_OCTET_STRING;
typedef struct asn1_string_st ASN1_TIME;
typedef struct asn1_string_st ASN1_GENERALIZEDTIME;
typedef struct ocsp_response_st OCSP_RESPONSE;
typedef struct ocsp_basic_response_st OCSP_BASICRESP;
typedef struct ocsp_cert_id_st OCSP_CERTID;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_pkey_ctx_st EVP_PKEY_CTX;
typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;
typedef struct evp_cipher_st EVP_CIPHER;
typedef struct evp_cipher_ctx_st EVP_CIPHER_CTX;
typedef struct engine_st ENGINE;
// OpenSSL's typed stacks. Internally, each of them is an `OPENSSL_STACK`.
struct stack_st_X509;
struct stack_st_X509_NAME;
struct stack_st_SSL_CIPHER;

#endif
