internal import CausewaySystem
internal import Synchronization

/// The optional methods of delegates, one per form.
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

/// Finds out whether a delegate implements an optional method. Without Objective-C an object cannot be asked.
///
/// The caller makes the call while a probe is current. The default implementation marks the probe, and the caller goes on to the next
/// candidate. The answer holds for all objects of a class, so it is found out once.
final class DelegateProbe: Sendable {
    /// A class of delegates and a method.
    private struct Key: Hashable {
        var type: ObjectIdentifier
        var method: DelegateMethod
    }

    /// The probe of the current call. A task-local value also reaches the default implementation of an `async` method.
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

    /// Called by default implementations. Returns whether a session made the call and now knows that the method is missing.
    ///
    /// A call that the program makes returns `false`: the default implementation must then answer itself.
    static func misses(_ delegate: AnyObject, _ method: DelegateMethod) -> Bool {
        guard let probe = current, probe.delegate == ObjectIdentifier(delegate), probe.method == method,
            probe.isOpen.load(ordering: .acquiring)
        else { return false }
        probe.isMissed.store(true, ordering: .releasing)
        return true
    }

    /// Returns whether the class of a delegate is known to lack a method.
    static func isKnownToLack(_ delegate: AnyObject, _ method: DelegateMethod) -> Bool {
        known(delegate, method) == false
    }

    /// Calls a method. Returns whether the delegate implements it.
    static func call(_ delegate: AnyObject, _ method: DelegateMethod, _ body: () -> Void) -> Bool {
        if let isImplemented = known(delegate, method) {
            if isImplemented { body() }
            return isImplemented
        }
        let probe = DelegateProbe(delegate, method)
        $current.withValue(probe) { body() }
        return probe.close(type(of: delegate))
    }

    /// Calls an `async` method. Returns its result, or `nil` if the delegate does not implement it.
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
