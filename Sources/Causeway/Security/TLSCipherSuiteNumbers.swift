// The registered numbers of cipher suites, under their IANA names. A program can create a ``tls_ciphersuite_t`` from a
// number, or compare a number with the negotiated suite: `UInt16(TLS_AES_128_GCM_SHA256)`. Of the suites that a program
// allows, those that OpenSSL does not support are ignored. A connection fails if OpenSSL supports none of them.

// Key exchange by RSA, DHE or anonymous DH: RFC 5246 appendix A.5, RFC 5288 §3.
/// RSA key exchange, no encryption, MD5 (RFC 5246).
public let TLS_RSA_WITH_NULL_MD5: SSLCipherSuite = 0x0001
/// RSA key exchange, no encryption, SHA-1 (RFC 5246).
public let TLS_RSA_WITH_NULL_SHA: SSLCipherSuite = 0x0002
/// RSA key exchange, RC4, MD5 (RFC 5246). RFC 7465 §2 prohibits its use.
public let TLS_RSA_WITH_RC4_128_MD5: SSLCipherSuite = 0x0004
/// RSA key exchange, RC4, SHA-1 (RFC 5246). RFC 7465 §2 prohibits its use.
public let TLS_RSA_WITH_RC4_128_SHA: SSLCipherSuite = 0x0005
/// RSA key exchange, 3DES-CBC, SHA-1 (RFC 5246).
public let TLS_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x000a
/// DHE key exchange with DSS signatures, 3DES-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_DSS_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x0013
/// DHE key exchange with RSA signatures, 3DES-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x0016
/// Anonymous DH key exchange, RC4, MD5 (RFC 5246). RFC 7465 §2 prohibits its use.
public let TLS_DH_anon_WITH_RC4_128_MD5: SSLCipherSuite = 0x0018
/// Anonymous DH key exchange, 3DES-CBC, SHA-1 (RFC 5246).
public let TLS_DH_anon_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0x001b
/// RSA key exchange, AES-128-CBC, SHA-1 (RFC 5246).
public let TLS_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x002f
/// DHE key exchange with DSS signatures, AES-128-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_DSS_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0032
/// DHE key exchange with RSA signatures, AES-128-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0033
/// Anonymous DH key exchange, AES-128-CBC, SHA-1 (RFC 5246).
public let TLS_DH_anon_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0034
/// RSA key exchange, AES-256-CBC, SHA-1 (RFC 5246).
public let TLS_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0035
/// DHE key exchange with DSS signatures, AES-256-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_DSS_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0038
/// DHE key exchange with RSA signatures, AES-256-CBC, SHA-1 (RFC 5246).
public let TLS_DHE_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0039
/// Anonymous DH key exchange, AES-256-CBC, SHA-1 (RFC 5246).
public let TLS_DH_anon_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x003a
/// RSA key exchange, no encryption, SHA-256 (RFC 5246).
public let TLS_RSA_WITH_NULL_SHA256: SSLCipherSuite = 0x003b
/// RSA key exchange, AES-128-CBC, SHA-256 (RFC 5246).
public let TLS_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x003c
/// RSA key exchange, AES-256-CBC, SHA-256 (RFC 5246).
public let TLS_RSA_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x003d
/// DHE key exchange with DSS signatures, AES-128-CBC, SHA-256 (RFC 5246).
public let TLS_DHE_DSS_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x0040
/// DHE key exchange with RSA signatures, AES-128-CBC, SHA-256 (RFC 5246).
public let TLS_DHE_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x0067
/// DHE key exchange with DSS signatures, AES-256-CBC, SHA-256 (RFC 5246).
public let TLS_DHE_DSS_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006a
/// DHE key exchange with RSA signatures, AES-256-CBC, SHA-256 (RFC 5246).
public let TLS_DHE_RSA_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006b
/// Anonymous DH key exchange, AES-128-CBC, SHA-256 (RFC 5246).
public let TLS_DH_anon_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x006c
/// Anonymous DH key exchange, AES-256-CBC, SHA-256 (RFC 5246).
public let TLS_DH_anon_WITH_AES_256_CBC_SHA256: SSLCipherSuite = 0x006d
/// RSA key exchange, AES-128-GCM, SHA-256 (RFC 5288).
public let TLS_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x009c
/// RSA key exchange, AES-256-GCM, SHA-384 (RFC 5288).
public let TLS_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x009d
/// DHE key exchange with RSA signatures, AES-128-GCM, SHA-256 (RFC 5288).
public let TLS_DHE_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x009e
/// DHE key exchange with RSA signatures, AES-256-GCM, SHA-384 (RFC 5288).
public let TLS_DHE_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x009f
/// DHE key exchange with DSS signatures, AES-128-GCM, SHA-256 (RFC 5288).
public let TLS_DHE_DSS_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a2
/// DHE key exchange with DSS signatures, AES-256-GCM, SHA-384 (RFC 5288).
public let TLS_DHE_DSS_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a3
/// Anonymous DH key exchange, AES-128-GCM, SHA-256 (RFC 5288).
public let TLS_DH_anon_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a6
/// Anonymous DH key exchange, AES-256-GCM, SHA-384 (RFC 5288).
public let TLS_DH_anon_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a7
/// A signaling value, not a cipher suite: a client sends this value to indicate support for secure renegotiation (RFC 5746 §3.3).
public let TLS_EMPTY_RENEGOTIATION_INFO_SCSV: SSLCipherSuite = 0x00ff

// Pre-shared keys: RFC 4279 §2, RFC 5487 §2 and §3, RFC 5489 §3, RFC 7905 §2.
/// Key exchange by pre-shared key, AES-128-CBC, SHA-1 (RFC 4279).
public let TLS_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x008c
/// Key exchange by pre-shared key, AES-256-CBC, SHA-1 (RFC 4279).
public let TLS_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x008d
/// DHE key exchange with a pre-shared key, AES-128-CBC, SHA-1 (RFC 4279).
public let TLS_DHE_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0090
/// DHE key exchange with a pre-shared key, AES-256-CBC, SHA-1 (RFC 4279).
public let TLS_DHE_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0091
/// RSA key exchange with a pre-shared key, AES-128-CBC, SHA-1 (RFC 4279).
public let TLS_RSA_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0x0094
/// RSA key exchange with a pre-shared key, AES-256-CBC, SHA-1 (RFC 4279).
public let TLS_RSA_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0x0095
/// Key exchange by pre-shared key, AES-128-GCM, SHA-256 (RFC 5487).
public let TLS_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00a8
/// Key exchange by pre-shared key, AES-256-GCM, SHA-384 (RFC 5487).
public let TLS_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00a9
/// DHE key exchange with a pre-shared key, AES-128-GCM, SHA-256 (RFC 5487).
public let TLS_DHE_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00aa
/// DHE key exchange with a pre-shared key, AES-256-GCM, SHA-384 (RFC 5487).
public let TLS_DHE_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00ab
/// RSA key exchange with a pre-shared key, AES-128-GCM, SHA-256 (RFC 5487).
public let TLS_RSA_PSK_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0x00ac
/// RSA key exchange with a pre-shared key, AES-256-GCM, SHA-384 (RFC 5487).
public let TLS_RSA_PSK_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0x00ad
/// Key exchange by pre-shared key, AES-128-CBC, SHA-256 (RFC 5487).
public let TLS_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00ae
/// Key exchange by pre-shared key, AES-256-CBC, SHA-384 (RFC 5487).
public let TLS_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00af
/// DHE key exchange with a pre-shared key, AES-128-CBC, SHA-256 (RFC 5487).
public let TLS_DHE_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00b2
/// DHE key exchange with a pre-shared key, AES-256-CBC, SHA-384 (RFC 5487).
public let TLS_DHE_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00b3
/// RSA key exchange with a pre-shared key, AES-128-CBC, SHA-256 (RFC 5487).
public let TLS_RSA_PSK_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0x00b6
/// RSA key exchange with a pre-shared key, AES-256-CBC, SHA-384 (RFC 5487).
public let TLS_RSA_PSK_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0x00b7
/// ECDHE key exchange with a pre-shared key, AES-128-CBC, SHA-1 (RFC 5489).
public let TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc035
/// ECDHE key exchange with a pre-shared key, AES-256-CBC, SHA-1 (RFC 5489).
public let TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc036
/// Key exchange by pre-shared key, ChaCha20-Poly1305, SHA-256 (RFC 7905).
public let TLS_PSK_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xccab
/// ECDHE key exchange with a pre-shared key, ChaCha20-Poly1305, SHA-256 (RFC 7905).
public let TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xccac

// Elliptic curves: RFC 8422 §6, RFC 5289 §3, RFC 7905 §2.
/// ECDHE key exchange with ECDSA signatures, no encryption, SHA-1 (RFC 8422).
public let TLS_ECDHE_ECDSA_WITH_NULL_SHA: SSLCipherSuite = 0xc006
/// ECDHE key exchange with ECDSA signatures, RC4, SHA-1 (RFC 4492). RFC 7465 §2 prohibits its use.
public let TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: SSLCipherSuite = 0xc007
/// ECDHE key exchange with ECDSA signatures, 3DES-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_ECDSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0xc008
/// ECDHE key exchange with ECDSA signatures, AES-128-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc009
/// ECDHE key exchange with ECDSA signatures, AES-256-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc00a
/// ECDHE key exchange with RSA signatures, no encryption, SHA-1 (RFC 8422).
public let TLS_ECDHE_RSA_WITH_NULL_SHA: SSLCipherSuite = 0xc010
/// ECDHE key exchange with RSA signatures, RC4, SHA-1 (RFC 4492). RFC 7465 §2 prohibits its use.
public let TLS_ECDHE_RSA_WITH_RC4_128_SHA: SSLCipherSuite = 0xc011
/// ECDHE key exchange with RSA signatures, 3DES-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: SSLCipherSuite = 0xc012
/// ECDHE key exchange with RSA signatures, AES-128-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: SSLCipherSuite = 0xc013
/// ECDHE key exchange with RSA signatures, AES-256-CBC, SHA-1 (RFC 8422).
public let TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: SSLCipherSuite = 0xc014
/// ECDHE key exchange with ECDSA signatures, AES-128-CBC, SHA-256 (RFC 5289).
public let TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0xc023
/// ECDHE key exchange with ECDSA signatures, AES-256-CBC, SHA-384 (RFC 5289).
public let TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0xc024
/// ECDHE key exchange with RSA signatures, AES-128-CBC, SHA-256 (RFC 5289).
public let TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: SSLCipherSuite = 0xc027
/// ECDHE key exchange with RSA signatures, AES-256-CBC, SHA-384 (RFC 5289).
public let TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384: SSLCipherSuite = 0xc028
/// ECDHE key exchange with ECDSA signatures, AES-128-GCM, SHA-256 (RFC 5289).
public let TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0xc02b
/// ECDHE key exchange with ECDSA signatures, AES-256-GCM, SHA-384 (RFC 5289).
public let TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0xc02c
/// ECDHE key exchange with RSA signatures, AES-128-GCM, SHA-256 (RFC 5289).
public let TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: SSLCipherSuite = 0xc02f
/// ECDHE key exchange with RSA signatures, AES-256-GCM, SHA-384 (RFC 5289).
public let TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: SSLCipherSuite = 0xc030
/// ECDHE key exchange with RSA signatures, ChaCha20-Poly1305, SHA-256 (RFC 7905).
public let TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xcca8
/// ECDHE key exchange with ECDSA signatures, ChaCha20-Poly1305, SHA-256 (RFC 7905).
public let TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0xcca9

// TLS 1.3: RFC 8446 §B.4.
/// AES-128-GCM, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
public let TLS_AES_128_GCM_SHA256: SSLCipherSuite = 0x1301
/// AES-256-GCM, SHA-384 (RFC 8446 §B.4). TLS 1.3 only.
public let TLS_AES_256_GCM_SHA384: SSLCipherSuite = 0x1302
/// ChaCha20-Poly1305, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
public let TLS_CHACHA20_POLY1305_SHA256: SSLCipherSuite = 0x1303
/// AES-128-CCM, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
public let TLS_AES_128_CCM_SHA256: SSLCipherSuite = 0x1304
/// AES-128-CCM with a tag of 8 bytes, SHA-256 (RFC 8446 §B.4). TLS 1.3 only.
public let TLS_AES_128_CCM_8_SHA256: SSLCipherSuite = 0x1305
