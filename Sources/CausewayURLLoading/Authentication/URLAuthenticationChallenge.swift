public import Foundation

/// Takes the answer to a challenge. For clients of ``URLProtocol`` and of `NSURLConnection`; delegates of sessions use completion
/// handlers.
///
/// Counterpart: macOS 10.2, iOS 2.
@preconcurrency public protocol URLAuthenticationChallengeSender: NSObjectProtocol, Sendable {
    /// Uses a credential.
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge)
    /// Continues without a credential.
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
    /// Ends the load.
    func cancel(_ challenge: URLAuthenticationChallenge)
    /// Does what happens without a delegate.
    func performDefaultHandling(for challenge: URLAuthenticationChallenge)
    /// Refuses the space and goes on to the next challenge of the response.
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}

extension URLAuthenticationChallengeSender {
    /// Default implementation: continues without a credential.
    public func performDefaultHandling(for challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }

    /// Default implementation: continues without a credential.
    public func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {
        continueWithoutCredential(for: challenge)
    }
}

/// A question for a credential or a decision.
///
/// Counterpart: macOS 10.2, iOS 2.
// SAFETY: all stored properties of this class are constants. Subclasses of programs answer for their own.
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

    /// Creates a challenge with the values of another one and a new sender.
    public convenience init(
        authenticationChallenge challenge: URLAuthenticationChallenge, sender: any URLAuthenticationChallengeSender
    ) {
        self.init(
            protectionSpace: challenge.protectionSpace, proposedCredential: challenge.proposedCredential,
            previousFailureCount: challenge.previousFailureCount, failureResponse: challenge.failureResponse,
            error: challenge.error, sender: sender)
    }

    /// Decodes a challenge. Returns `nil` for an archive that this module did not write.
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

    /// Encodes the challenge without its error and its sender.
    open func encode(with coder: NSCoder) {
        coder.encodePropertyList(Archive(previousFailureCount: previousFailureCount))
        coder.encode(protectionSpace, forKey: "space")
        coder.encode(proposedCredential, forKey: "credential")
        coder.encode(failureResponse, forKey: "response")
    }

    /// The server or proxy that asks.
    open var protectionSpace: URLProtectionSpace { values.space }

    /// The credential that is used by default.
    open var proposedCredential: URLCredential? { values.credential }

    /// The number of credentials that this space refused before.
    open var previousFailureCount: Int { values.failureCount }

    /// The last response that refused access.
    open var failureResponse: URLResponse? { values.response }

    /// The error of the last attempt.
    open var error: (any Error)? { values.error }

    /// Takes the answer. For clients of ``URLProtocol`` and `NSURLConnection`.
    open var sender: (any URLAuthenticationChallengeSender)? { values.sender }

    /// Whether the class supports secure coding: `true`.
    open class var supportsSecureCoding: Bool { true }
}
