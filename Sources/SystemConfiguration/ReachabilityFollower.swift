internal import Causeway
internal import CausewayStreams
internal import CausewaySystem
internal import Dispatch
internal import Foundation

/// Calls a program's callback when a destination's flags change.
///
/// The follower observes the network only while there is a callback, and a queue or run loop for the callback. All
/// methods may be called from any thread.
final class ReachabilityFollower: Sendable {
    private struct State: Sendable {
        var callback: ReachabilityCallback?
        var queue: DispatchQueue?
        var places: [RunLoopPlace] = []
        /// The destination while it is scheduled. This reference keeps the object alive.
        var target: SCNetworkReachability?
        var watch: PathQuery.Watch?
        /// The latest known or assumed flags; `nil` while there are none.
        var known: SCNetworkReachabilityFlags?
        /// The newest search's number. If an older search ends later, its result is outdated and ignored.
        var search = 0
        /// Whether a run loop has delivered the latest change. If several run loops wake for a change, only the first
        /// one delivers it.
        var isToldInLoop = true

        var isWanted: Bool { callback != nil && target != nil }
    }

    private let state = LockedValue(State())

    deinit {
        let last = state.withLock { $0 }
        last.watch?.cancel()
    }

    func setCallback(_ body: SCNetworkReachabilityCallBack?, _ context: SCNetworkReachabilityContext?) {
        let callback = body.map { ReachabilityCallback($0, context) }
        // The old callback's context data is released outside the lock.
        let old = state.withLock { state in
            defer { state.callback = callback }
            return state.callback
        }
        withExtendedLifetime(old) {}
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

    /// Changes the state. The change may replace the destination. Its old value is released after the lock: this may be
    /// the last reference, and the destination's deinit takes the same lock.
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
        let (isWanted, isFollowing) = state.withLock { ($0.isWanted, $0.watch != nil) }
        guard isWanted != isFollowing else { return }
        guard isWanted else {
            let ended = state.withLock { state -> PathQuery.Watch? in
                // Since the first check, another thread may have set a callback or scheduled the destination. In that
                // case, continue to observe.
                guard !state.isWanted else { return nil }
                state.known = nil
                return state.watch.take()
            }
            ended?.cancel()
            return
        }
        // Assume flags until the first lookup of the name ends. Without them, a network change during the lookup would
        // not be reported, because there would be no earlier flags to compare with. Determine them outside the lock,
        // because this may read files.
        let target = state.withLock { $0.target }
        let presumed = target?.presumedFlags
        state.withLock { state in if state.target === target { state.known = presumed } }
        findFlags()
        let watch = PathQuery.follow { [weak self] in
            // This closure runs on an event loop of the network monitor, which must not block. A search may read the
            // resolver files, so run it on another queue.
            DispatchQueue.global().async { [weak self] in self?.findFlags() }
        }
        let unwanted = state.withLock { state -> PathQuery.Watch? in
            guard state.watch == nil, state.isWanted else { return watch }
            state.watch = watch
            return nil
        }
        unwanted?.cancel()
    }

    /// Starts a search for the destination's current flags. Called after scheduling and after each network change. The
    /// search may read files, so do not call this method on an event loop.
    private func findFlags() {
        let (target, search) = state.withLock { state in
            state.search += 1
            return (state.target, state.search)
        }
        target?.findFlags { [weak self, weak target] flags in
            if let target { self?.found(flags, of: target, in: search) }
        }
    }

    /// Reports changed flags. The first flags after scheduling are stored without a report.
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
        // Before this block ran, the program may have unscheduled the destination, or scheduled it on another queue. In
        // both cases, do not call the callback.
        let callback = state.withLock { $0.queue === queue ? $0.callback : nil }
        callback?.call(target, flags)
    }

    /// Calls the callback with the latest change, in a run loop. Call this method only on the run loop's thread.
    private func tellInLoop() {
        let (callback, target, flags) = state.withLock { state in
            defer { state.isToldInLoop = true }
            return (state.isToldInLoop ? nil : state.callback, state.target, state.known)
        }
        guard let callback, let target, let flags else { return }
        callback.call(target, flags)
    }
}

/// A callback and its context data. The data is released after another callback has replaced this one and all calls
/// have ended.
final class ReachabilityCallback: Sendable {
    private let body: SCNetworkReachabilityCallBack
    private let info: Unchecked<UnsafeMutableRawPointer?>
    private let release: Unchecked<((UnsafeRawPointer) -> Void)?>

    init(_ body: @escaping SCNetworkReachabilityCallBack, _ context: SCNetworkReachabilityContext?) {
        self.body = body
        let retained = context?.info.map { UnsafeRawPointer($0) }.map { context?.retain?($0) ?? $0 }
        info = Unchecked(retained.map { UnsafeMutableRawPointer(mutating: $0) })
        release = Unchecked(context?.release)
    }

    deinit {
        if let info = info.value { release.value?(UnsafeRawPointer(info)) }
    }

    func call(_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags) {
        // Keep this object and its context data alive during the call: the program may replace the callback at the same
        // time, from any thread.
        withExtendedLifetime(self) { body(target, flags, info.value) }
    }
}
