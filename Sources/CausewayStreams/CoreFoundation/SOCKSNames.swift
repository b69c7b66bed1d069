public import Causeway

// SOCKS setting names, for a stream property and for the proxy dictionary of a URL session.

/// The stream property for a SOCKS proxy: a dictionary of settings. The proxy dictionary of a URL session can contain
/// the same key and value.
public let kCFStreamPropertySOCKSProxy: CFString = "kCFStreamPropertySOCKSProxy"
/// The key for the SOCKS proxy host.
public let kCFStreamPropertySOCKSProxyHost: CFString = "SOCKSProxy"
/// The key for the SOCKS proxy port.
public let kCFStreamPropertySOCKSProxyPort: CFString = "SOCKSPort"
/// The key for the protocol version: ``kCFStreamSocketSOCKSVersion5``, which is the default.
public let kCFStreamPropertySOCKSVersion: CFString = "kCFStreamPropertySOCKSVersion"
/// SOCKS 4, which is not supported: connections fail with it.
public let kCFStreamSocketSOCKSVersion4: CFString = "kCFStreamSocketSOCKSVersion4"
/// SOCKS 5 (RFC 1928).
public let kCFStreamSocketSOCKSVersion5: CFString = "kCFStreamSocketSOCKSVersion5"
/// The key for the user name.
public let kCFStreamPropertySOCKSUser: CFString = "kCFStreamPropertySOCKSUser"
/// The key for the password.
public let kCFStreamPropertySOCKSPassword: CFString = "kCFStreamPropertySOCKSPassword"
