// The registered numbers of cipher suites under their IANA names, for ``tls_ciphersuite_t`` and for comparison with the negotiated suite:
// `UInt16(TLS_AES_128_GCM_SHA256)`. A connection with a suite that the TLS engine does not support fails.

// Key exchange by RSA, with and without forward secrecy: RFC 5246 appendix A.5, RFC 5288 §3.
public let TLS_RSA_WITH_NULL_MD5: SSLCipherSuite = 0x0001
public let TLS_RSA_WITH_NULL_SHA: SSLCipherSuite = 0x0002
public let TLS_RSA_WITH_RC4_128_MD5: SSLCipherSuite = 0x0004
public let TLS_RSA_WITH_RC4_128_SHA: SSLCipherSuite = 0x0005
public let TLS_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x000a
public let TLS_DHE_DSS_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x0013
public let TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x0016
public let TLS_DH_anon_WITH_RC4_128_MD5: SSLCipherSuite = 0x0018
public let TLS_DH_anon_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x001b
public let TLS_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x002f
public let TLS_DHE_DSS_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0032
public let TLS_DHE_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0033
public let TLS_DH_anon_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0034
public let TLS_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0035
public let TLS_DHE_DSS_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0038
public let TLS_DHE_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0039
public let TLS_DH_anon_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x003a
public let TLS_RSA_WITH_NULL_SHA256: SSLCipherSuite = 0x003b
public let TLS_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x003c
public let TLS_RSA_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x003d
public let TLS_DHE_DSS_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x0040
public let TLS_DHE_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x0067
public let TLS_DHE_DSS_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006a
public let TLS_DHE_RSA_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006b
public let TLS_DH_anon_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x006c
public let TLS_DH_anon_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006d
public let TLS_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x009c
public let TLS_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x009d
public let TLS_DHE_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x009e
public let TLS_DHE_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x009f
public let TLS_DHE_DSS_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a2
public let TLS_DHE_DSS_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a3
public let TLS_DH_anon_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a6
public let TLS_DH_anon_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a7
public let TLS_EMPTY_RENEGOTIATION_INFO_SCSV: SSLCipherSuite = 0x00ff

// Pre-shared keys: RFC 4279 §2, RFC 5487 §2 and §3, RFC 5489 §3, RFC 7905 §2.
public let TLS_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x008c
public let TLS_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x008d
public let TLS_DHE_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0090
public let TLS_DHE_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0091
public let TLS_RSA_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0094
public let TLS_RSA_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0095
public let TLS_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a8
public let TLS_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a9
public let TLS_DHE_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00aa
public let TLS_DHE_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00ab
public let TLS_RSA_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00ac
public let TLS_RSA_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00ad
public let TLS_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00ae
public let TLS_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00af
public let TLS_DHE_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00b2
public let TLS_DHE_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00b3
public let TLS_RSA_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00b6
public let TLS_RSA_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00b7
public let TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc035
public let TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc036
public let TLS_PSK_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xccab
public let TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xccac

// Curves: RFC 8422 §6, RFC 5289 §3, RFC 7905 §2.
public let TLS_ECDHE_ECDSA_WITH_NULL_SHA: SSLCipherSuite = 0xc006
public let TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: SSLCipherSuite = 0xc007
public let TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0xc008
public let TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc009
public let TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc00a
public let TLS_ECDHE_RSA_WITH_NULL_SHA: SSLCipherSuite = 0xc010
public let TLS_ECDHE_RSA_WITH_RC4_128_SHA: SSLCipherSuite = 0xc011
public let TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0xc012
public let TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc013
public let TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc014
public let TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0xc023
public let TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0xc024
public let TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0xc027
public let TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0xc028
public let TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0xc02b
public let TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0xc02c
public let TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0xc02f
public let TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0xc030
public let TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xcca8
public let TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xcca9

// TLS 1.3: RFC 8446 appendix B.4.
public let TLS_AES_128_GCM_SHA256: SSLCipherSuite = 0x1301
public let TLS_AES_256_GCM_SHA384: SSLCipherSuite = 0x1302
public let TLS_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0x1303
public let TLS_AES_128_CCM_SHA256: SSLCipherSuite = 0x1304
public let TLS_AES_128_CCM_8_SHA256: SSLCipherSuite = 0x1305
