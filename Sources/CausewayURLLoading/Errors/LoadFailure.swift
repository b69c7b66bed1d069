internal import Causeway
internal import Foundation

/// Why a task failed.
///
/// Only ``urlError(for:)`` converts a cause to a `URLError`. Programs receive `URLError` values because on Linux casting a plain `NSError`
/// to `URLError` fails.
struct LoadFailure: Error, Sendable {
    /// The kinds of failure in loaders.
    enum Cause: Sendable, CaseIterable {
        /// The program cancelled the task, or the session was invalidated.
        case cancelled
        /// The program cancelled an authentication challenge.
        case authenticationCancelled
        /// The program has a credential, but the library for the server's authentication scheme is missing.
        case authenticationUnavailable
        case badURL
        case timedOut
        /// No loader handles the scheme, or there is no URL.
        case unsupportedURL
        /// The resume data has an unknown format. The error code matches Apple's framework.
        case resumeDataInvalid
        case hostNotFound
        case connectionRefused
        /// The connection ended in the middle of a message.
        case connectionLost
        case tooManyRedirects
        /// The redirect target is not a URL.
        case redirectTargetInvalid
        case notConnected
        /// The message is well formed but violates a rule of the protocol.
        case protocolViolation
        /// The message cannot be parsed.
        case unreadableResponse
        case encodingUnknown
        case encodingBroken
        case tooLarge
        /// A redirect from https to http.
        case downgrade
        case handshakeFailed
        case certificateDateInvalid
        case certificateNotYetValid
        case certificateUntrusted
        case certificateRootUnknown
        case clientCertificateRejected
        case clientCertificateRequired
        /// The cache has no stored response, and the cache policy forbids loading from the network.
        case notInCache
        case fileMissing
        case fileIsDirectory
        case fileUnreadable
        /// The file's size changed while it was sent.
        case fileChanged
        case fileNotCreated
        case fileNotOpened
        case fileNotClosed
        case fileNotWritten
        case fileNotRemoved
        case fileNotMoved
        case bodyStreamExhausted
        case backgroundSessionInUse
    }

    var cause: Cause
    /// The underlying error.
    var underlying: (any Error)?
    /// Additional entries for the error's user info.
    var details: [String: any Sendable] = [:]

    init(_ cause: Cause, underlying: (any Error)? = nil, details: [String: any Sendable] = [:]) {
        self.cause = cause
        self.underlying = underlying
        self.details = details
    }

    /// The value of `NSURLErrorFailingURLStringErrorKey`. The constant is deprecated, but programs still read this entry.
    static let urlTextKey = "NSErrorFailingURLStringKey"
    /// The key for the method of the failed request. The entry exists only if a redirect has changed the method.
    static let changedMethodKey = "CausewayMethodAfterRedirect"

    /// Returns the error as the program receives it.
    ///
    /// - Parameter url: The failed request's URL.
    func urlError(for url: URL?) -> URLError {
        let (code, text) = Self.row(of: cause)
        var userInfo: [String: Any] = details
        if details[NSLocalizedDescriptionKey] == nil { userInfo[NSLocalizedDescriptionKey] = text }
        if let url {
            userInfo[NSURLErrorFailingURLErrorKey] = url
            userInfo[Self.urlTextKey] = url.absoluteString
        }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        return URLError(code, userInfo: userInfo)
    }

    /// Converts one of this library's internal errors to a `URLError` for the program. Returns any other error
    /// unchanged.
    static func presented(_ error: any Error, for url: URL?) -> any Error {
        (error as? LoadFailure)?.urlError(for: url) ?? error
    }

    /// Converts a plain `NSError` to the typed Swift error for its domain. Returns the error unchanged if there is no
    /// such type.
    ///
    /// On Apple platforms, a cast or a `catch` with a pattern makes this conversion. On Linux it does not.
    static func bridged(_ error: any Error) -> any Error {
        guard type(of: error) == NSError.self else { return error }
        let object = error as NSError
        return switch object.domain {
        case NSURLErrorDomain: URLError(_nsError: object)
        case NSPOSIXErrorDomain: POSIXError(_nsError: object)
        case NSCocoaErrorDomain: CocoaError(_nsError: object)
        default: error
        }
    }
}

extension LoadFailure {
    /// Returns a cause's error code and description. The descriptions in lower case, such as `bad URL`, are the same as
    /// in Apple's framework, because programs may compare them.
    static func row(of cause: Cause) -> (URLError.Code, String) {
        switch cause {
        case .cancelled: (.cancelled, "cancelled")
        case .authenticationCancelled: (.userCancelledAuthentication, "Authentication was cancelled.")
        case .authenticationUnavailable:
            (.userAuthenticationRequired, "The authentication method of the server is not available.")
        case .badURL: (.badURL, "bad URL")
        case .timedOut: (.timedOut, "The request timed out.")
        case .unsupportedURL: (.unsupportedURL, "unsupported URL")
        case .resumeDataInvalid: (.unsupportedURL, "The resume data is not valid.")
        case .hostNotFound: (.cannotFindHost, "The name of the host does not exist or has no address.")
        case .connectionRefused: (.cannotConnectToHost, "The host does not accept the connection.")
        case .connectionLost: (.networkConnectionLost, "The connection ended before the response was complete.")
        case .tooManyRedirects: (.httpTooManyRedirects, "too many HTTP redirects")
        case .redirectTargetInvalid: (.redirectToNonExistentLocation, "The target of the redirect is not a URL.")
        case .notConnected: (.notConnectedToInternet, "No network connection is available.")
        case .protocolViolation: (.badServerResponse, "The response violates the protocol.")
        case .unreadableResponse: (.cannotParseResponse, "cannot parse response")
        case .tooLarge: (.dataLengthExceedsMaximum, "resource exceeds maximum size")
        case .encodingUnknown: (.cannotDecodeContentData, "cannot decode content data")
        case .encodingBroken: (.cannotDecodeRawData, "cannot decode raw data")
        case .downgrade: (.appTransportSecurityRequiresSecureConnection, "A redirect leads from https to http.")
        case .notInCache: (.cannotLoadFromNetwork, "The cache has no response, and the policy forbids loading.")
        case .bodyStreamExhausted: (.requestBodyStreamExhausted, "request body stream exhausted")
        case .backgroundSessionInUse:
            (.backgroundSessionInUseByAnotherProcess, "Another process uses the background session.")
        case .handshakeFailed, .certificateDateInvalid, .certificateNotYetValid, .certificateUntrusted,
            .certificateRootUnknown, .clientCertificateRejected, .clientCertificateRequired:
            securityRow(of: cause)
        case .fileMissing, .fileIsDirectory, .fileUnreadable, .fileChanged, .fileNotCreated, .fileNotOpened,
            .fileNotClosed, .fileNotWritten, .fileNotRemoved, .fileNotMoved:
            fileRow(of: cause)
        }
    }

    private static func securityRow(of cause: Cause) -> (URLError.Code, String) {
        switch cause {
        case .certificateDateInvalid: (.serverCertificateHasBadDate, "The certificate of the server has expired.")
        case .certificateNotYetValid: (.serverCertificateNotYetValid, "The certificate of the server is not yet valid.")
        case .certificateUntrusted: (.serverCertificateUntrusted, "The certificate of the server is not trusted.")
        case .certificateRootUnknown:
            (.serverCertificateHasUnknownRoot, "The certificate of the server has an unknown issuer.")
        case .clientCertificateRejected: (.clientCertificateRejected, "The server rejected the client certificate.")
        case .clientCertificateRequired: (.clientCertificateRequired, "The server requires a client certificate.")
        default: (.secureConnectionFailed, "The TLS handshake failed.")
        }
    }

    private static func fileRow(of cause: Cause) -> (URLError.Code, String) {
        switch cause {
        case .fileMissing: (.fileDoesNotExist, "The file does not exist.")
        case .fileIsDirectory: (.fileIsDirectory, "The file is a directory.")
        case .fileUnreadable: (.noPermissionsToReadFile, "Permission to read the file is denied.")
        case .fileChanged: (.cannotOpenFile, "The file changed its size while it was being sent.")
        case .fileNotCreated: (.cannotCreateFile, "The file cannot be created.")
        case .fileNotClosed: (.cannotCloseFile, "The file cannot be closed.")
        case .fileNotWritten: (.cannotWriteToFile, "The file cannot be written.")
        case .fileNotRemoved: (.cannotRemoveFile, "The file cannot be removed.")
        case .fileNotMoved: (.cannotMoveFile, "The file cannot be moved.")
        default: (.cannotOpenFile, "The file cannot be opened.")
        }
    }
}
