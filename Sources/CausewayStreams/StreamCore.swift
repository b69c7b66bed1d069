internal import Causeway
internal import CausewaySystem
internal import Foundation

/// The common part of input and output streams: stores a stream's state, and delivers events in the stream's run loops
/// or on the stream's queue.
final class StreamCore: Sendable {
    enum Direction: Sendable { case input, output }

    private struct State: Sendable {
        var progress = StreamProgress()
        var queue: DispatchQueue?
        var places: [RunLoopPlace] = []
        /// Whether a delivery is already scheduled on the queue.
        var isQueued = false
        var isTelling = false
    }

    /// The stream and its delegate. Code accesses them only while it holds the lock.
    private final class Faces {
        weak var stream: Stream?
        weak var delegate: (any StreamDelegate)?
    }

    let direction: Direction
    let pipe: BytePipe
    let link: any StreamLink
    private let state = LockedValue(State())
    private let faces = Unchecked(Faces())

    init(_ direction: Direction, _ pipe: BytePipe, _ link: any StreamLink) {
        self.direction = direction
        self.pipe = pipe
        self.link = link
        pipe.observe { [weak self] in self?.poke() }
    }

    func attach(_ stream: Stream) { state.withLock { _ in faces.value.stream = stream } }

    var delegate: (any StreamDelegate)? {
        get { state.withLock { _ in Unchecked(faces.value.delegate) }.value }
        set {
            let delegate = Unchecked(newValue)
            state.withLock { _ in faces.value.delegate = delegate.value }
        }
    }

    // MARK: Opening, closing and events

    var facts: StreamProgress.Facts {
        let level = pipe.level
        return switch direction {
        case .input:
            StreamProgress.Facts(isReady: level.count > 0, isAtEnd: level.isAtEnd, failure: level.failure)
        case .output:
            StreamProgress.Facts(
                isReady: level.room > 0, failure: level.failure ?? (level.isAbandoned ? .posix(.EPIPE) : nil))
        }
    }

    var status: Stream.Status {
        let facts = facts
        return state.withLock { $0.progress.status(facts) }
    }

    func open() {
        guard state.withLock({ $0.progress.openCalled() }) else { return }
        link.open(self)
        // Schedule a delivery here. If the link is already open or failed, no later change of the link would cause an
        // event.
        poke()
    }

    /// Called when the link is open.
    func opened() {
        state.withLock { $0.progress.opened() }
        pipe.changed()
    }

    func close() {
        guard state.withLock({ $0.progress.closeCalled() }) else { return }
        let places = state.withLock { state in
            defer { (state.places, state.queue) = ([], nil) }
            return state.places
        }
        for place in places { place.end() }
        link.closed(direction)
    }

    /// Called after an attempt to read or write, so that the delegate may receive the next event.
    func touched() {
        state.withLock { $0.progress.touched() }
        poke()
    }

    // MARK: Delivery

    func schedule(on queue: DispatchQueue?) {
        state.withLock { $0.queue = queue }
        poke()
    }

    func schedule(in loop: RunLoop, _ mode: RunLoop.Mode) {
        let place = RunLoopPlace(loop, mode) { [weak self] in self?.tell() }
        state.withLock { $0.places.append(place) }
        poke()
    }

    func remove(from loop: RunLoop, _ mode: RunLoop.Mode) {
        let removed = state.withLock { state in state.places.take(in: loop, mode) }
        for place in removed { place.end() }
    }

    /// Schedules a delivery. Called after each change that may cause an event.
    private func poke() {
        let (queue, places) = state.withLock { state -> (DispatchQueue?, [RunLoopPlace]) in
            guard let queue = state.queue else { return (nil, state.places) }
            guard !state.isQueued else { return (nil, []) }
            state.isQueued = true
            return (queue, [])
        }
        queue?.async {
            self.state.withLock { $0.isQueued = false }
            self.tell()
        }
        for place in places { place.wake() }
    }

    /// Delivers one event. Further events follow in later iterations of the run loop, so that a busy stream does not
    /// block the run loop.
    ///
    /// The method reads the pipe's state while it holds the lock. An earlier snapshot could show bytes that a read has
    /// consumed meanwhile. The delegate would then get an event for the consumed bytes, and no event for bytes that
    /// arrive later.
    private func tell() {
        let next = state.withLock { state -> Unchecked<(Stream?, (any StreamDelegate)?, Stream.Event?)> in
            // Return the stream and the delegate even if there is no event, because these references may be the last
            // ones. The caller then releases them outside the lock. This is necessary because the stream's deinit
            // acquires the lock.
            let (stream, delegate) = (faces.value.stream, faces.value.delegate)
            guard !state.isTelling, stream != nil, delegate != nil else { return Unchecked((stream, delegate, nil)) }
            let event = state.progress.nextEvent(
                self.facts, ready: direction == .input ? .hasBytesAvailable : .hasSpaceAvailable)
            if event != nil { state.isTelling = true }
            return Unchecked((stream, delegate, event))
        }
        guard let stream = next.value.0, let delegate = next.value.1, let event = next.value.2 else { return }
        delegate.stream(stream, handle: event)
        state.withLock { $0.isTelling = false }
        poke()
    }
}

/// The transport behind a stream pair: a connection, a socket, or the pipe in a bound pair.
protocol StreamLink: Sendable {
    /// Opens the link. Called when the program opens either stream of the pair.
    ///
    /// The link calls ``StreamCore/opened()`` on `core` when it is ready.
    func open(_ core: StreamCore)
    func closed(_ direction: StreamCore.Direction)
    /// Calls `body` once, when all content of the output stream was sent or can no longer be sent.
    func whenEnded(_ body: @escaping @Sendable () -> Void)
    func property(_ key: Stream.PropertyKey) -> AnyObject?
    /// Sets a property. Returns whether this succeeded: the property must be known and still be changeable, and the
    /// value must be valid.
    func setProperty(_ value: AnyObject?, _ key: Stream.PropertyKey) -> Bool
}
