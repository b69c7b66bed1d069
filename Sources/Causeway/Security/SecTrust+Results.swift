internal import CausewayTypes
public import Dispatch
public import FoundationEssentials

// The older functions that evaluate trust. Some of them call back on a dispatch queue.

/// The result of an evaluation.
public enum SecTrustResultType: UInt32, Sendable {
    /// The certificate was not evaluated.
    case invalid = 0
    /// Trusted, because the user accepted the violations of the chain.
    case proceed = 1
    /// Not trusted, because the user rejected the chain.
    case deny = 3
    /// Trusted: the chain satisfies all rules.
    case unspecified = 4
    /// Not trusted: the chain violates a rule.
    case recoverableTrustFailure = 5
    /// Not trusted, and no setting can change this result.
    case fatalTrustFailure = 6
    /// The evaluation failed.
    case otherError = 7
}

/// Called with the trust object and its result.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void
/// Called with the trust object and a Boolean: whether the chain is trusted. If it is not, also gets the error.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// Evaluates like ``SecTrustEvaluateWithError(_:_:)``. The result is `.unspecified` if the chain is trusted, `.proceed` if it is trusted
/// only because of exceptions, and `.recoverableTrustFailure` otherwise.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.result(of: trust.evaluationError())
    return errSecSuccess
}

/// Evaluates the trust object with its current settings, even if it was evaluated before, and returns the result.
///
/// Counterpart: macOS 10.7, iOS 7.
@discardableResult
public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus { SecTrustEvaluate(trust, result) }

/// Evaluates the trust object on a queue and reports the result on that queue. The default is the main queue.
///
/// Counterpart: macOS 10.7, iOS 7.
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
) -> OSStatus {
    let block = Unchecked(result)
    (queue ?? .main).async { block.value(trust, trust.result(of: trust.evaluationError())) }
    return errSecSuccess
}

/// Evaluates the trust object on a queue and reports the result on that queue.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    let block = Unchecked(result)
    queue.async {
        let error = trust.evaluationError()
        block.value(trust, error == nil, error)
    }
    return errSecSuccess
}

/// Sets the validation time; the default is the current time. Returns `errSecParam` for a date whose time is NaN.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let seconds = verifyDate.timeIntervalSince1970.rounded(.down)
    guard !seconds.isNaN else { return errSecParam }
    // If the time does not fit into `Int64`, use the nearest value: the smallest or the largest `Int64`.
    trust.update { $0.time = Int64(exactly: seconds) ?? (seconds < 0 ? .min : .max) }
    return errSecSuccess
}

/// Sets whether evaluation may use the network. This setting has no effect, because evaluation never uses the network.
///
/// Counterpart: macOS 10.9, iOS 7.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus { errSecSuccess }

/// Stores `false` in `allowFetch`, because evaluation never uses the network.
///
/// Counterpart: macOS 10.9, iOS 7.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<Bool>) -> OSStatus {
    allowFetch.pointee = false
    return errSecSuccess
}

/// Returns the English description of a result code; `nil` for a code that no function of this library returns.
///
/// Counterpart: macOS 10.3, iOS 11.3.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    securityStatusTexts[status] ?? NWError.tls(status).reason
}

extension SecTrust {
    /// Evaluates the chain and returns the error; `nil` if the chain is trusted.
    fileprivate func evaluationError() -> CFError? {
        var error: CFError?
        SecTrustEvaluateWithError(self, &error)
        return error
    }

    fileprivate func result(of error: CFError?) -> SecTrustResultType {
        guard error == nil else { return .recoverableTrustFailure }
        guard values.evaluate == nil, values.exceptions != nil else { return .unspecified }
        return failure(isStrict: true) == nil ? .unspecified : .proceed
    }
}
