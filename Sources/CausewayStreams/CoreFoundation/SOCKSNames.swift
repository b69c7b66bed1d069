public import Causeway

// The names of SOCKS settings, in a property of a stream and in the proxy dictionary of a URL session.

/// The stream property with the settings of a SOCKS proxy, a dictionary. In the proxy dictionary of a session it has the same value.
public let kCFStreamPropertySOCKSProxy: CFString = "kCFStreamPropertySOCKSProxy"
/// The key for the host of the SOCKS proxy.
public let kCFStreamPropertySOCKSProxyHost: CFString = "SOCKSProxy"
/// The key for the port of the SOCKS proxy.
public let kCFStreamPropertySOCKSProxyPort: CFString = "SOCKSPort"
/// The key for the version of the protocol: ``kCFStreamSocketSOCKSVersion5``, which is the default.
public let kCFStreamPropertySOCKSVersion: CFString = "kCFStreamPropertySOCKSVersion"
/// SOCKS 4, which is not supported: with it, connections fail.
public let kCFStreamSocketSOCKSVersion4: CFString = "kCFStreamSocketSOCKSVersion4"
/// SOCKS 5 (RFC 1928).
public let kCFStreamSocketSOCKSVersion5: CFString = "kCFStreamSocketSOCKSVersion5"
/// The key for the user name.
public let kCFStreamPropertySOCKSUser: CFString = "kCFStreamPropertySOCKSUser"
/// The key for the password.
public let kCFStreamPropertySOCKSPassword: CFString = "kCFStreamPropertySOCKSPassword"
