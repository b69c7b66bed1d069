public import Causeway
internal import CausewayStreams
internal import CausewaySystem
public import Dispatch
internal import Foundation

/// A callback for changes in a destination's flags. It receives the new flags and ``SCNetworkReachabilityContext/info``.
///
/// On Apple platforms this is a C function, which cannot capture values.
///
/// Counterpart: macOS 10.3, iOS 2.
public typealias SCNetworkReachabilityCallBack =
    @Sendable (_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags, _ info: UnsafeMutableRawPointer?)
    ->
    Void

/// The program's data for a callback, with functions that retain and release it.
///
/// Counterpart: macOS 10.3, iOS 2.
public struct SCNetworkReachabilityContext {
    /// The structure's version, always 0.
    public var version: Int
    /// The pointer passed to the callback.
    public var info: UnsafeMutableRawPointer?
    /// Called with ``info`` when the callback is set. The returned pointer replaces ``info``.
    public var retain: ((UnsafeRawPointer) -> UnsafeRawPointer)?
    /// Called with ``info`` when the callback is replaced or removed.
    public var release: ((UnsafeRawPointer) -> Void)?
    /// A function that describes `info`. It is never called.
    public var copyDescription: ((UnsafeRawPointer) -> Unmanaged<AnyObject>)?

    /// Creates the context of a reachability callback.
    ///
    /// - Parameters:
    ///   - version: Always 0.
    ///   - info: The pointer to pass to the callback.
    ///   - retain: Called with `info` when the callback is set.
    ///   - release: Called with `info` when the callback is replaced or removed.
    ///   - copyDescription: Never called.
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

    /// Creates an empty context of a reachability callback.
    public init() { self.init(version: 0, info: nil, retain: nil, release: nil, copyDescription: nil) }
}

/// Sets the callback for changes in a destination's flags; `nil` removes it.
///
/// The callback is active while it is set and the destination is scheduled on a queue or a run loop. An active callback
/// is called each time the flags change. It is not called with the initial flags.
///
/// - Parameters:
///   - target: The destination.
///   - callout: The callback.
///   - context: The callback's data, which is copied; `nil` for none.
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

/// Sets the queue for callbacks; `nil` stops the delivery. A scheduled destination is kept alive until it is unscheduled.
///
/// - Returns: `true`.
///
/// Counterpart: macOS 10.6, iOS 4.
@discardableResult
public func SCNetworkReachabilitySetDispatchQueue(_ target: SCNetworkReachability, _ queue: DispatchQueue?) -> Bool {
    target.follower.schedule(target, on: queue)
    return true
}

/// Adds a run loop for callbacks. A scheduled destination is kept alive until it is unscheduled.
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

/// Removes a run loop for callbacks.
///
/// - Returns: Whether the destination was scheduled in this run loop. Otherwise ``SCError()`` is `kSCStatusInvalidArgument`.
///
/// Counterpart: macOS 10.3, iOS 2.
@discardableResult
public func SCNetworkReachabilityUnscheduleFromRunLoop(
    _ target: SCNetworkReachability, _ runLoop: CFRunLoop, _ runLoopMode: CFString
) -> Bool {
    let wasScheduled = target.follower.unschedule(from: runLoop.runLoop, RunLoop.Mode(rawValue: runLoopMode))
    if !wasScheduled { StatusMemory.current = kSCStatusInvalidArgument }
    return wasScheduled
}
