/// The CFNetwork error domain. This library produces no such errors: loads fail with `NSURLErrorDomain` errors.
public let kCFErrorDomainCFNetwork = "kCFErrorDomainCFNetwork"

/// The CFNetwork error codes. Those for URL loading equal the `NSURLErrorDomain` codes.
///
/// Counterpart: macOS 10.5, iOS 2.
public enum CFNetworkErrors: Int32, Sendable {
    /// The host was not found.
    case cfHostErrorHostNotFound = 1
    /// The host lookup failed.
    case cfHostErrorUnknown = 2
    /// The SOCKS version is not known.
    case cfsocksErrorUnknownClientVersion = 100
    /// The proxy refuses the SOCKS version.
    case cfsocksErrorUnsupportedServerVersion = 101
    /// A SOCKS 4 proxy refused the request.
    case cfsocks4ErrorRequestFailed = 110
    /// A SOCKS 4 proxy could not reach the client's identd.
    case cfsocks4ErrorIdentdFailed = 111
    /// A SOCKS 4 proxy received a user name from identd that differs from the name in the request.
    case cfsocks4ErrorIdConflict = 112
    /// A SOCKS 4 proxy sent an unknown status.
    case cfsocks4ErrorUnknownStatusCode = 113
    /// The connection to a SOCKS 5 proxy is in a state that does not permit the operation.
    case cfsocks5ErrorBadState = 120
    /// A SOCKS 5 proxy sent an invalid address.
    case cfsocks5ErrorBadResponseAddr = 121
    /// A SOCKS 5 proxy refused the credential.
    case cfsocks5ErrorBadCredentials = 122
    /// A SOCKS 5 proxy requires an unknown authentication method.
    case cfsocks5ErrorUnsupportedNegotiationMethod = 123
    /// A SOCKS 5 proxy accepts none of the offered authentication methods.
    case cfsocks5ErrorNoAcceptableMethod = 124
    /// An FTP server sent an unexpected status.
    case cfftpErrorUnexpectedStatusCode = 200
    /// The authentication scheme is unknown.
    case cfErrorHTTPAuthenticationTypeUnsupported = 300
    /// The server refused the credential.
    case cfErrorHTTPBadCredentials = 301
    /// The connection was lost.
    case cfErrorHTTPConnectionLost = 302
    /// The response cannot be parsed.
    case cfErrorHTTPParseFailure = 303
    /// The redirects form a loop.
    case cfErrorHTTPRedirectionLoopDetected = 304
    /// The URL is not valid.
    case cfErrorHTTPBadURL = 305
    /// The connection to the HTTP proxy failed.
    case cfErrorHTTPProxyConnectionFailure = 306
    /// The proxy refused the credential.
    case cfErrorHTTPBadProxyCredentials = 307
    /// The proxy auto-configuration (PAC) script failed.
    case cfErrorPACFileError = 308
    /// The PAC script needs a credential.
    case cfErrorPACFileAuth = 309
    /// The connection through the HTTPS proxy failed.
    case cfErrorHTTPSProxyConnectionFailure = 310
    /// The proxy answered CONNECT with an unexpected status.
    case cfStreamErrorHTTPSProxyFailureUnexpectedResponseToCONNECTMethod = 311
    /// Another process uses the background session.
    case cfurlErrorBackgroundSessionInUseByAnotherProcess = -996
    /// The background session was disconnected.
    case cfurlErrorBackgroundSessionWasDisconnected = -997
    /// The error is not known.
    case cfurlErrorUnknown = -998
    /// The load was cancelled.
    case cfurlErrorCancelled = -999
    /// The URL is not valid.
    case cfurlErrorBadURL = -1000
    /// The load timed out.
    case cfurlErrorTimedOut = -1001
    /// The URL scheme is unknown.
    case cfurlErrorUnsupportedURL = -1002
    /// The host was not found.
    case cfurlErrorCannotFindHost = -1003
    /// The host does not accept the connection.
    case cfurlErrorCannotConnectToHost = -1004
    /// The connection was lost.
    case cfurlErrorNetworkConnectionLost = -1005
    /// The DNS lookup failed.
    case cfurlErrorDNSLookupFailed = -1006
    /// There are too many redirects.
    case cfurlErrorHTTPTooManyRedirects = -1007
    /// The resource is not available.
    case cfurlErrorResourceUnavailable = -1008
    /// There is no network connection.
    case cfurlErrorNotConnectedToInternet = -1009
    /// The redirect target is not a URL.
    case cfurlErrorRedirectToNonExistentLocation = -1010
    /// The response violates the protocol.
    case cfurlErrorBadServerResponse = -1011
    /// The authentication was cancelled.
    case cfurlErrorUserCancelledAuthentication = -1012
    /// Authentication is required.
    case cfurlErrorUserAuthenticationRequired = -1013
    /// The content is empty.
    case cfurlErrorZeroByteResource = -1014
    /// The content coding is damaged.
    case cfurlErrorCannotDecodeRawData = -1015
    /// The content coding is not known.
    case cfurlErrorCannotDecodeContentData = -1016
    /// The response cannot be parsed.
    case cfurlErrorCannotParseResponse = -1017
    /// Roaming is off.
    case cfurlErrorInternationalRoamingOff = -1018
    /// A telephone call is active.
    case cfurlErrorCallIsActive = -1019
    /// Mobile data is not allowed.
    case cfurlErrorDataNotAllowed = -1020
    /// The body stream cannot be read again.
    case cfurlErrorRequestBodyStreamExhausted = -1021
    /// A secure connection is required.
    case cfurlErrorAppTransportSecurityRequiresSecureConnection = -1022
    /// The file does not exist.
    case cfurlErrorFileDoesNotExist = -1100
    /// The file is a directory.
    case cfurlErrorFileIsDirectory = -1101
    /// No permission to read the file.
    case cfurlErrorNoPermissionsToReadFile = -1102
    /// The content is too large.
    case cfurlErrorDataLengthExceedsMaximum = -1103
    /// The file is outside the area in which file access is allowed.
    case cfurlErrorFileOutsideSafeArea = -1104
    /// The TLS handshake failed.
    case cfurlErrorSecureConnectionFailed = -1200
    /// The server's certificate has expired.
    case cfurlErrorServerCertificateHasBadDate = -1201
    /// The server's certificate is not trusted.
    case cfurlErrorServerCertificateUntrusted = -1202
    /// The server's certificate has an unknown issuer.
    case cfurlErrorServerCertificateHasUnknownRoot = -1203
    /// The server's certificate is not yet valid.
    case cfurlErrorServerCertificateNotYetValid = -1204
    /// The server rejected the client certificate.
    case cfurlErrorClientCertificateRejected = -1205
    /// The server requires a client certificate.
    case cfurlErrorClientCertificateRequired = -1206
    /// The network must not be used, and the cache has no response.
    case cfurlErrorCannotLoadFromNetwork = -2000
    /// The file cannot be created.
    case cfurlErrorCannotCreateFile = -3000
    /// The file cannot be opened.
    case cfurlErrorCannotOpenFile = -3001
    /// The file cannot be closed.
    case cfurlErrorCannotCloseFile = -3002
    /// The file cannot be written.
    case cfurlErrorCannotWriteToFile = -3003
    /// The file cannot be removed.
    case cfurlErrorCannotRemoveFile = -3004
    /// The file cannot be moved.
    case cfurlErrorCannotMoveFile = -3005
    /// Decoding failed in the middle of a download.
    case cfurlErrorDownloadDecodingFailedMidStream = -3006
    /// Decoding failed at the end of a download.
    case cfurlErrorDownloadDecodingFailedToComplete = -3007
    /// The cookie file cannot be parsed.
    case cfhttpCookieCannotParseCookieFile = -4000
    /// A Bonjour error that is not known.
    case cfNetServiceErrorUnknown = -72_000
    /// The service name is in use.
    case cfNetServiceErrorCollision = -72_001
    /// The service was not found.
    case cfNetServiceErrorNotFound = -72_002
    /// The service is in use already.
    case cfNetServiceErrorInProgress = -72_003
    /// An argument is not valid.
    case cfNetServiceErrorBadArgument = -72_004
    /// The operation was cancelled.
    case cfNetServiceErrorCancel = -72_005
    /// The service is not valid.
    case cfNetServiceErrorInvalid = -72_006
    /// The operation timed out.
    case cfNetServiceErrorTimeout = -72_007
    /// The DNS service failed.
    case cfNetServiceErrorDNSServiceFailure = -73_000
}
