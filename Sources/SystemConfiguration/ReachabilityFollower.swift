internal import Causeway
internal import CausewayStreams
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Calls a program's callback when a destination's flags change.
///
/// It observes the network only while there is a callback and a queue or run loop for it. All methods may be called from any thread.
final class ReachabilityFollower: Sendable {
    /// A callback and its context data, retained until ``end()``.
    private struct Callback: Sendable {
        let body: SCNetworkReachabilityCallBack
        let info: Unchecked<UnsafeMutableRawPointer?>
        let release: Unchecked<((UnsafeRawPointer) -> Void)?>

        init(_ body: @escaping SCNetworkReachabilityCallBack, _ context: SCNetworkReachabilityContext?) {
            self.body = body
            let retained = context?.info.map { UnsafeRawPointer($0) }.map { context?.retain?($0) ?? $0 }
            info = Unchecked(retained.map { UnsafeMutableRawPointer(mutating: $0) })
            release = Unchecked(context?.release)
        }

        func end() {
            if let info = info.value { release.value?(UnsafeRawPointer(info)) }
        }
    }

    private struct State: Sendable {
        var callback: Callback?
        var queue: DispatchQueue?
        var places: [RunLoopPlace] = []
        /// The destination while it is scheduled. This reference keeps it alive.
        var target: SCNetworkReachability?
        var watch: PathQuery.Watch?
        /// The last known flags; `nil` before the first search has ended.
        var known: SCNetworkReachabilityFlags?
        /// The newest search's number. If an older search ends later, its result is outdated and ignored.
        var search = 0
        /// Whether a run loop has delivered the latest change. In several run loops, the first one to wake delivers it.
        var isToldInLoop = true
    }

    private let state = LockedValue(State())

    deinit {
        let last = state.withLock { $0 }
        last.watch?.cancel()
        last.callback?.end()
    }

    func setCallback(_ body: SCNetworkReachabilityCallBack?, _ context: SCNetworkReachabilityContext?) {
        let callback = body.map { Callback($0, context) }
        let old = state.withLock { state in
            defer { state.callback = callback }
            return state.callback
        }
        old?.end()
        update()
    }

    func schedule(_ target: SCNetworkReachability, on queue: DispatchQueue?) {
        change { state in
            state.queue = queue
            state.target = queue == nil && state.places.isEmpty ? nil : target
        }
    }

    func schedule(_ target: SCNetworkReachability, in loop: RunLoop, _ mode: RunLoop.Mode) {
        let place = RunLoopPlace(loop, mode) { [weak self] in self?.tellInLoop() }
        change { state in
            state.places.append(place)
            state.target = target
        }
    }

    func unschedule(from loop: RunLoop, _ mode: RunLoop.Mode) -> Bool {
        let removed = state.withLock { $0.places.take(in: loop, mode) }
        for place in removed { place.end() }
        change { state in
            if state.queue == nil, state.places.isEmpty { state.target = nil }
        }
        return !removed.isEmpty
    }

    /// Changes the state. Releases the old reference to the destination outside the lock: it may be the last one, and
    /// deinit takes the lock.
    private func change(_ body: (inout State) -> Void) {
        let old = state.withLock { state in
            defer { body(&state) }
            return state.target
        }
        update()
        withExtendedLifetime(old) {}
    }

    /// Starts or stops observing the network, as the state requires.
    private func update() {
        let (isWanted, isFollowing) = state.withLock { ($0.callback != nil && $0.target != nil, $0.watch != nil) }
        guard isWanted != isFollowing else { return }
        guard isWanted else {
            let ended = state.withLock { state in
                state.known = nil
                return state.watch.take()
            }
            ended?.cancel()
            return
        }
        // The network can change before a name's first lookup ends, so assume flags until then.
        state.withLock { state in state.known = state.target?.presumedFlags }
        findFlags()
        let watch = PathQuery.follow { [weak self] in self?.findFlags() }
        let unwanted = state.withLock { state -> PathQuery.Watch? in
            guard state.watch == nil, state.target != nil else { return watch }
            state.watch = watch
            return nil
        }
        unwanted?.cancel()
    }

    /// Starts a search for the current flags, after scheduling and after each network change.
    private func findFlags() {
        let (target, search) = state.withLock { state in
            state.search += 1
            return (state.target, state.search)
        }
        target?.findFlags { [weak self, weak target] flags in
            if let target { self?.found(flags, of: target, in: search) }
        }
    }

    /// Reports changed flags. The first flags after scheduling only become the known ones.
    private func found(_ flags: SCNetworkReachabilityFlags, of target: SCNetworkReachability, in search: Int) {
        let (queue, places) = state.withLock { state -> (DispatchQueue?, [RunLoopPlace]) in
            guard state.target === target, state.search == search else { return (nil, []) }
            guard let known = state.known, known != flags else {
                state.known = flags
                return (nil, [])
            }
            (state.known, state.isToldInLoop) = (flags, false)
            return (state.queue, state.places)
        }
        for place in places { place.wake() }
        queue?.async { [weak self] in self?.tell(target, flags, on: queue) }
    }

    private func tell(_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags, on queue: DispatchQueue?) {
        // The destination may have been unscheduled, or scheduled on another queue, before this block ran.
        let callback = state.withLock { $0.queue === queue ? $0.callback : nil }
        callback.map { $0.body(target, flags, $0.info.value) }
    }

    /// Delivers the latest change in a run loop. Called on the loop's thread.
    private func tellInLoop() {
        let (callback, target, flags) = state.withLock { state in
            defer { state.isToldInLoop = true }
            return (state.isToldInLoop ? nil : state.callback, state.target, state.known)
        }
        guard let callback, let target, let flags else { return }
        callback.body(target, flags, callback.info.value)
    }
}
