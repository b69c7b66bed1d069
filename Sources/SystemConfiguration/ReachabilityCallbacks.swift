public import Causeway
internal import CausewayStreams
internal import CausewaySystem
public import Dispatch
internal import Foundation

/// Called when what is known of a destination has changed, with the new flags and ``SCNetworkReachabilityContext/info``.
///
/// On Apple platforms this is a function of C, which captures nothing.
///
/// Counterpart: macOS 10.3, iOS 2.
public typealias SCNetworkReachabilityCallBack =
    @Sendable (_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags, _ info: UnsafeMutableRawPointer?)
    ->
    Void

/// What a callback gets of the program's own, and how it is kept.
///
/// Counterpart: macOS 10.3, iOS 2.
public struct SCNetworkReachabilityContext {
    /// 0.
    public var version: Int
    /// Passed to the callback.
    public var info: UnsafeMutableRawPointer?
    /// Called with ``info`` when the callback is set; what it returns is kept in its place.
    public var retain: ((UnsafeRawPointer) -> UnsafeRawPointer)?
    /// Called with ``info`` when the callback is replaced or removed.
    public var release: ((UnsafeRawPointer) -> Void)?
    /// Never called.
    public var copyDescription: ((UnsafeRawPointer) -> Unmanaged<AnyObject>)?

    public init(
        version: Int, info: UnsafeMutableRawPointer?, retain: ((UnsafeRawPointer) -> UnsafeRawPointer)?,
        release: ((UnsafeRawPointer) -> Void)?, copyDescription: ((UnsafeRawPointer) -> Unmanaged<AnyObject>)?
    ) {
        self.version = version
        self.info = info
        self.retain = retain
        self.release = release
        self.copyDescription = copyDescription
    }

    /// A context without anything.
    public init() { self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil) }
}

/// Sets what is called when the flags of a destination change; `nil` removes it. It takes effect once the destination is scheduled on a
/// queue or a run loop, and is not called for the flags that hold when that happens.
///
/// - Parameter context: Copied; `nil` for none.
/// - Returns: `true`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilitySetCallback(
    _ target: SCNetworkReachability, _ callout: SCNetworkReachabilityCallBack?,
    _ context: UnsafeMutablePointer<SCNetworkReachabilityContext>?
) -> Bool {
    target.follower.setCallback(callout, context?.pointee)
    return true
}

/// Delivers callbacks on a queue; `nil` ends that. A scheduled destination lives until it is unscheduled.
///
/// - Returns: `true`.
///
/// Counterpart: macOS 10.6, iOS 4.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
    target.follower.schedule(target, on: queue)
    return true
}

/// Delivers callbacks in a run loop. A scheduled destination lives until it is unscheduled.
///
/// - Returns: `true`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilityScheduleWithRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
    target.follower.schedule(target, in: runLoop.runLoop, RunLoop.Mode(rawValue: runLoopMode))
    return true
}

/// Delivers no more callbacks in a run loop.
///
/// - Returns: Whether the destination was scheduled there.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
    target.follower.unschedule(from: runLoop.runLoop, RunLoop.Mode(rawValue: runLoopMode))
}
