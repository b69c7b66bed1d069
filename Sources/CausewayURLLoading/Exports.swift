// Causeway types that declarations in this module use. A source file that imports only this module can name them, like
// a source file for Apple platforms that imports only Foundation.
@_exported public import struct Causeway.ProxyConfiguration
@_exported public import enum Causeway.SSLProtocol
@_exported public import class Causeway.SecCertificate
@_exported public import class Causeway.SecIdentity
@_exported public import class Causeway.SecTrust
@_exported public import struct Causeway.UnmanagedArray
@_exported public import struct Causeway.UnmanagedDictionary
@_exported public import struct Causeway.tls_ciphersuite_t
@_exported public import enum Causeway.tls_protocol_version_t
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSPassword
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSProxy
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSProxyHost
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSProxyPort
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSUser
@_exported public import let CausewayStreams.kCFStreamPropertySOCKSVersion
@_exported public import let CausewayStreams.kCFStreamSocketSOCKSVersion4
@_exported public import let CausewayStreams.kCFStreamSocketSOCKSVersion5
