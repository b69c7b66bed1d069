internal import CausewayTypes
public import Dispatch
public import FoundationEssentials

// The older ways to ask whether a trust holds, and those that answer on a queue.

/// The outcome of a judgement.
public enum SecTrustResultType: UInt32, Sendable {
    /// There was none.
    case invalid = 0
    /// Trusted, because a person said so.
    case proceed = 1
    /// Not trusted, because a person said so.
    case deny = 3
    /// Trusted, by the rules.
    case unspecified = 4
    /// Not trusted, by the rules.
    case recoverableTrustFailure = 5
    /// Not trusted, and nothing could change that.
    case fatalTrustFailure = 6
    /// It could not be judged.
    case otherError = 7
}

/// Told what was judged, and how.
public typealias SecTrustCallback = (SecTrust, SecTrustResultType) -> Void
/// Told what was judged, whether it is trusted, and why not.
public typealias SecTrustWithErrorCallback = (SecTrust, Bool, CFError?) -> Void

/// Judges like ``SecTrustEvaluateWithError(_:_:)``, and gives `.unspecified`, `.proceed` where exceptions made it pass, or
/// `.recoverableTrustFailure`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.result(of: trust.judge())
    return errSecSuccess
}

/// Gives the outcome of a judgement as the trust is now.
///
/// Counterpart: macOS 10.7, iOS 7.
@discardableResult
public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus { SecTrustEvaluate(trust, result) }

/// Judges on a queue, and tells there. Without a queue that is the main one.
///
/// Counterpart: macOS 10.7, iOS 7.
@discardableResult
public func SecTrustEvaluateAsync(
    _ trust: SecTrust, _ queue: DispatchQueue?, _ result: @escaping SecTrustCallback
) -> OSStatus {
    let block = Unchecked(result)
    (queue ?? .main).async { block.value(trust, trust.result(of: trust.judge())) }
    return errSecSuccess
}

/// Judges on a queue, and tells there.
///
/// Counterpart: macOS 10.15, iOS 13.
@discardableResult
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue, _ result: @escaping SecTrustWithErrorCallback
) -> OSStatus {
    let block = Unchecked(result)
    queue.async {
        let error = trust.judge()
        block.value(trust, error == nil, error)
    }
    return errSecSuccess
}

/// Sets the time to judge by, instead of now.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    trust.update { $0.time = Int64(verifyDate.timeIntervalSince1970.rounded(.down)) }
    return errSecSuccess
}

/// Without effect: nothing is ever fetched to judge.
///
/// Counterpart: macOS 10.9, iOS 7.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus { errSecSuccess }

/// Gives `false`: nothing is ever fetched to judge.
///
/// Counterpart: macOS 10.9, iOS 7.
@discardableResult
public func SecTrustGetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: UnsafeMutablePointer<Bool>) -> OSStatus {
    allowFetch.pointee = false
    return errSecSuccess
}

/// What a number means, in English; `nil` for numbers that no function here returns.
///
/// Counterpart: macOS 10.3, iOS 11.3.
@discardableResult
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    securityStatusTexts[status] ?? NWError.tls(status).reason
}

extension SecTrust {
    /// Why it is not trusted; `nil` if it is.
    fileprivate func judge() -> CFError? {
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
