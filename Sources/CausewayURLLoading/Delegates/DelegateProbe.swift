internal import CausewaySystem
internal import Synchronization

/// The optional delegate methods. The completion-handler form and the `async` form of a method are separate cases.
enum DelegateMethod: UInt8, Sendable {
    case becameInvalid, sessionChallenge, sessionChallengeAsync, finishedBackgroundEvents
    case createdTask, willBeginDelayed, willBeginDelayedAsync, waitsForConnectivity
    case redirect, redirectAsync, taskChallenge, taskChallengeAsync
    case needsStream, needsStreamAsync, needsStreamFrom, needsStreamFromAsync
    case sentBodyData, informationalResponse, metrics, completed
    case response, responseAsync, becameDownload, becameStream, data, willCache, willCacheAsync
    case wroteData, resumed
    case readClosed, writeClosed, betterRoute, becameStreams
    case opened, closed
}

/// Finds out whether a delegate implements an optional method. Without Objective-C there is no `responds(to:)`.
///
/// The session sets a task-local probe, and then calls the method. If the default implementation runs, it marks the
/// probe. The session then tries the next delegate. The result is cached for the delegate's class, because all objects
/// of a class behave the same.
final class DelegateProbe: Sendable {
    /// The key of a cached result: a delegate class and one of the optional methods.
    private struct Key: Hashable {
        var type: ObjectIdentifier
        var method: DelegateMethod
    }

    /// The probe for the delegate call in progress. The probe detects whether the default implementation runs.
    ///
    /// The value is task-local, so the default implementation of an `async` method can also read it.
    @TaskLocal private static var current: DelegateProbe?
    private static let answers = LockedValue<[Key: Bool]>([:])

    private let delegate: ObjectIdentifier
    private let method: DelegateMethod
    private let isOpen = Atomic<Bool>(true)
    private let isMissed = Atomic<Bool>(false)

    private init(_ delegate: AnyObject, _ method: DelegateMethod) {
        self.delegate = ObjectIdentifier(delegate)
        self.method = method
    }

    /// Records that the delegate does not implement this method, if the session is testing this. In this case, returns
    /// `true`.
    ///
    /// The default implementations of delegate methods call this function. The result is `false` if the program called
    /// the method directly. The default implementation must then produce the result itself.
    static func misses(_ delegate: AnyObject, _ method: DelegateMethod) -> Bool {
        guard let probe = current, probe.delegate == ObjectIdentifier(delegate), probe.method == method,
            probe.isOpen.load(ordering: .acquiring)
        else { return false }
        probe.isMissed.store(true, ordering: .releasing)
        return true
    }

    /// Returns whether an earlier call has shown that the delegate's class lacks a method.
    ///
    /// Returns `false` if the class implements the method, or if the session has not called it yet.
    static func isKnownToLack(_ delegate: AnyObject, _ method: DelegateMethod) -> Bool {
        known(delegate, method) == false
    }

    /// Calls a delegate method. Returns whether the delegate implements it.
    static func call(_ delegate: AnyObject, _ method: DelegateMethod, _ body: () -> Void) -> Bool {
        if let isImplemented = known(delegate, method) {
            if isImplemented { body() }
            return isImplemented
        }
        let probe = DelegateProbe(delegate, method)
        $current.withValue(probe) { body() }
        return probe.close(type(of: delegate))
    }

    /// Calls an `async` delegate method. Returns its result, or `nil` if the delegate does not implement it.
    static func call<Answer>(
        _ delegate: AnyObject, _ method: DelegateMethod, _ body: @Sendable () async -> Answer
    ) async -> Answer? {
        if let isImplemented = known(delegate, method) { return isImplemented ? await body() : nil }
        let probe = DelegateProbe(delegate, method)
        let answer = await $current.withValue(probe) { await body() }
        return probe.close(type(of: delegate)) ? answer : nil
    }

    private static func known(_ delegate: AnyObject, _ method: DelegateMethod) -> Bool? {
        let key = Key(type: ObjectIdentifier(type(of: delegate)), method: method)
        return answers.withLock { $0[key] }
    }

    private func close(_ type: AnyClass) -> Bool {
        isOpen.store(false, ordering: .releasing)
        let isImplemented = !isMissed.load(ordering: .acquiring)
        let key = Key(type: ObjectIdentifier(type), method: method)
        Self.answers.withLock { $0[key] = isImplemented }
        return isImplemented
    }
}
