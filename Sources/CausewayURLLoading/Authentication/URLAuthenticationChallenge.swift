public import Foundation

/// Receives the decision on an authentication challenge. ``URLProtocol`` clients and `NSURLConnection` delegates use it; session delegates
/// call a completion handler instead.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Continues the request with a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Continues the request without a credential.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Cancels the challenge and ends the load.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Handles the challenge as if there were no delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Rejects this protection space and continues with the next challenge in the response.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLAuthenticationChallengeSender {
    /// Default implementation: continues the request without a credential.
    public func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }

    /// Default implementation: continues the request without a credential.
    public func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }
}

/// An authentication challenge: a request for a credential or for a trust decision.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses outside this module must make their own properties thread-safe.
@preconcurrency open class URLAuthenticationChallenge: NSObject, NSSecureCoding, @unchecked Sendable {
    private struct Archive: Codable {
        var previousFailureCount: Int
    }

    private struct Values {
        var space: URLProtectionSpace
        var credential: URLCredential?
        var failureCount: Int
        var response: URLResponse?
        var error: (any Error)?
        var sender: (any URLAuthenticationChallengeSender)?
    }

    private let values: Values

    /// Creates a challenge with an empty protection space and without a sender, for subclasses with an initializer of their own.
    public override init() {
        values = Values(space: URLProtectionSpace(), failureCount: 0)
        super.init()
    }

    /// Creates a challenge.
    public init(
        protectionSpace space: URLProtectionSpace, proposedCredential credential: URLCredential?,
        previousFailureCount: Int, failureResponse response: URLResponse?, error: (any Error)?,
        sender: any URLAuthenticationChallengeSender
    ) {
        values = Values(
            space: space, credential: credential, failureCount: previousFailureCount, response: response, error: error,
            sender: sender)
        super.init()
    }

    /// Creates a challenge without a sender. The task's delegates receive a copy that has a sender.
    init(
        _ space: URLProtectionSpace, proposed credential: URLCredential?, failureCount: Int = 0,
        response: URLResponse? = nil, error: (any Error)? = nil
    ) {
        values = Values(
            space: space, credential: credential, failureCount: failureCount, response: response, error: error)
        super.init()
    }

    /// Creates a challenge with the values of another challenge and a new sender.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            protectionSpace: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
            previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
            error: challenge.error, sender: sender)
    }

    /// Decodes a challenge. Returns `nil` if the archive was not written by this module.
    public required init?(coder: NSCoder) {
        guard let archive = coder.decodePropertyList(Archive.self),
            let space = coder.decodeObject(of: URLProtectionSpace.self, forKey: "space")
        else { return nil }
        let response = coder.decodeObject(of: [URLResponse.self, HTTPURLResponse.self], forKey: "response")
        values = Values(
            space: space, credential: coder.decodeObject(of: URLCredential.self, forKey: "credential"),
            failureCount: archive.previousFailureCount, response: response.flatMap { $0 as? URLResponse })
        super.init()
    }

    /// Encodes the challenge. Its error and its sender are not encoded.
    open func encode(with coder: NSCoder) {
        coder.encodePropertyList(Archive(previousFailureCount: previousFailureCount))
        coder.encode(protectionSpace, forKey: "space")
        coder.encode(proposedCredential, forKey: "credential")
        coder.encode(failureResponse, forKey: "response")
    }

    /// The protection space of the server or proxy that requires authentication.
    open var protectionSpace: URLProtectionSpace { values.space }

    /// The credential that the session tries if the program chooses default handling of the challenge; `nil` if there
    /// is none.
    open var proposedCredential: URLCredential? { values.credential }

    /// The number of failed authentication attempts for this protection space so far.
    open var previousFailureCount: Int { values.failureCount }

    /// The server's response to the latest failed authentication attempt.
    open var failureResponse: URLResponse? { values.response }

    /// The error from the latest failed attempt.
    open var error: (any Error)? { values.error }

    /// The object to which a session delegate can report its decision, instead of calling the completion handler. Only
    /// the first answer has an effect.
    open var sender: (any URLAuthenticationChallengeSender)? { values.sender }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }
}
