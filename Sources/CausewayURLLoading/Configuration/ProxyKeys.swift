// The keys of `URLSessionConfiguration.connectionProxyDictionary`. On Apple platforms they are constants of CFNetwork.

/// Whether the proxy for `http` is used.
public let kCFNetworkProxiesHTTPEnable = "HTTPEnable"
/// The host of the proxy for `http`.
public let kCFNetworkProxiesHTTPProxy = "HTTPProxy"
/// The port of the proxy for `http`.
public let kCFNetworkProxiesHTTPPort = "HTTPPort"
/// Whether the proxy for `https` is used.
public let kCFNetworkProxiesHTTPSEnable = "HTTPSEnable"
/// The host of the proxy for `https`.
public let kCFNetworkProxiesHTTPSProxy = "HTTPSProxy"
/// The port of the proxy for `https`.
public let kCFNetworkProxiesHTTPSPort = "HTTPSPort"
/// Whether the SOCKS proxy is used.
public let kCFNetworkProxiesSOCKSEnable = "SOCKSEnable"
/// The host of the SOCKS proxy.
public let kCFNetworkProxiesSOCKSProxy = "SOCKSProxy"
/// The port of the SOCKS proxy.
public let kCFNetworkProxiesSOCKSPort = "SOCKSPort"
/// Whether the proxy for `ftp` is used. Has no effect.
public let kCFNetworkProxiesFTPEnable = "FTPEnable"
/// The host of the proxy for `ftp`. Has no effect.
public let kCFNetworkProxiesFTPProxy = "FTPProxy"
/// The port of the proxy for `ftp`. Has no effect.
public let kCFNetworkProxiesFTPPort = "FTPPort"
/// Whether FTP uses passive mode. Has no effect.
public let kCFNetworkProxiesFTPPassive = "FTPPassive"
/// The host names that are connected to directly, without a proxy.
public let kCFNetworkProxiesExceptionsList = "ExceptionsList"
/// Whether host names without a dot are connected to directly, without a proxy.
public let kCFNetworkProxiesExcludeSimpleHostnames = "ExcludeSimpleHostnames"
/// Whether a PAC script selects the proxy.
public let kCFNetworkProxiesProxyAutoConfigEnable = "ProxyAutoConfigEnable"
/// The URL of the PAC script.
public let kCFNetworkProxiesProxyAutoConfigURLString = "ProxyAutoConfigURLString"
/// The source code of the PAC script.
public let kCFNetworkProxiesProxyAutoConfigJavaScript = "ProxyAutoConfigJavaScript"
/// Whether the PAC script is discovered automatically. With `true`, loads fail with `ENOTSUP`.
public let kCFNetworkProxiesProxyAutoDiscoveryEnable = "ProxyAutoDiscoveryEnable"
/// The user name for a proxy.
public let kCFProxyUsernameKey = "kCFProxyUsernameKey"
/// The password for a proxy.
public let kCFProxyPasswordKey = "kCFProxyPasswordKey"

// Keys for one proxy. They occur in dictionaries from `CFNetworkCopyProxiesForURL`. If `connectionProxyDictionary`
// contains them, their proxy is used for all schemes.

/// The type of a proxy, such as ``kCFProxyTypeSOCKS``.
public let kCFProxyTypeKey = "kCFProxyTypeKey"
/// The host of a proxy.
public let kCFProxyHostNameKey = "kCFProxyHostNameKey"
/// The port of a proxy.
public let kCFProxyPortNumberKey = "kCFProxyPortNumberKey"
/// The URL of a PAC script.
public let kCFProxyAutoConfigurationURLKey = "kCFProxyAutoConfigurationURLKey"
/// The source code of a PAC script.
public let kCFProxyAutoConfigurationJavaScriptKey = "kCFProxyAutoConfigurationJavaScriptKey"

/// The type for a direct connection without a proxy.
public let kCFProxyTypeNone = "kCFProxyTypeNone"
/// An HTTP proxy for the scheme `http`. In `connectionProxyDictionary` it is used for all schemes.
public let kCFProxyTypeHTTP = "kCFProxyTypeHTTP"
/// An HTTP proxy for the scheme `https`. In `connectionProxyDictionary` it is used for all schemes.
public let kCFProxyTypeHTTPS = "kCFProxyTypeHTTPS"
/// A SOCKS 5 proxy.
public let kCFProxyTypeSOCKS = "kCFProxyTypeSOCKS"
/// An FTP proxy. Loads through an FTP proxy fail.
public let kCFProxyTypeFTP = "kCFProxyTypeFTP"
/// A PAC script at a URL.
public let kCFProxyTypeAutoConfigurationURL = "kCFProxyTypeAutoConfigurationURL"
/// A PAC script as text.
public let kCFProxyTypeAutoConfigurationJavaScript = "kCFProxyTypeAutoConfigurationJavaScript"
