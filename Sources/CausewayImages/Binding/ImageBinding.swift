public import CausewayImageFormats
internal import CausewaySystem
public import Dispatch

/// Connects an image slot in a user interface with a loader.
///
/// Each list row has one binding. When the row is reused, call ``show(_:)`` with another request: the earlier request
/// is cancelled, and its image is never shown.
public final class ImageBinding: Sendable {
    /// A binding's slot type.
    public typealias Slot = ImageSlot<ImageRequest, LoadedImage>

    private struct State {
        var slot: Slot
        var task: ImageTask?
    }

    private let loader: ImageLoader
    private let queue: DispatchQueue
    private let changed: @Sendable (Slot) -> Void
    private let state: LockedValue<State>

    /// Creates a binding.
    ///
    /// - Parameters:
    ///   - loader: Loads the images.
    ///   - slot: An empty slot, with the placeholder and the fade.
    ///   - queue: The queue for `changed`, which must be serial.
    ///   - changed: Called with the slot after each change.
    public init(
        loader: ImageLoader, slot: Slot = Slot(), queue: DispatchQueue = .main,
        changed: @escaping @Sendable (Slot) -> Void
    ) {
        self.loader = loader
        self.queue = queue
        self.changed = changed
        state = LockedValue(State(slot: slot))
    }

    deinit { state.withLock { $0.task }?.cancel() }

    /// The current slot. Times in the slot are measured like ``now``.
    public var slot: Slot { state.withLock { $0.slot } }

    /// The current time, as ``/CausewayImageFormats/ImageSlot/opacity(at:)`` expects it.
    public static var now: Duration { System.now }

    /// Shows an image, at once if it is in memory. Does nothing if the slot shows or loads it already.
    ///
    /// - Parameter request: The image request; `nil` to empty the slot.
    public func show(_ request: ImageRequest?) {
        guard let request else { return clear() }
        let ready = loader.imageInMemory(for: request)
        let (old, ticket) = state.withLock { state -> (ImageTask?, Slot.Ticket?) in
            guard let ticket = state.slot.beginIfNeeded(request) else { return (nil, nil) }
            if let ready { state.slot.finish(.success(ready), for: ticket, wasLoaded: false) }
            return (Self.take(&state), ticket)
        }
        guard let ticket else { return }
        old?.cancel()
        notify()
        if ready == nil { load(request, ticket) }
    }

    private func clear() {
        let old = state.withLock { state in
            state.slot.clear()
            return Self.take(&state)
        }
        old?.cancel()
        notify()
    }

    /// Changes the image's priority.
    public func setPriority(_ priority: ImagePriority) { state.withLock { $0.task }?.priority = priority }

    private static func take(_ state: inout sending State) -> ImageTask? {
        defer { state.task = nil }
        return state.task
    }

    private func load(_ request: ImageRequest, _ ticket: Slot.Ticket) {
        let task = loader.load(request, queue: queue) { [weak self] update in
            if case .preview(let image) = update { self?.change { $0.preview(image, for: ticket) } }
        } completion: { [weak self] result in
            self?.change { slot in
                let wasLoaded = (try? result.get().origin) != .memory
                return slot.finish(result.map { $0 }, for: ticket, wasLoaded: wasLoaded, at: Self.now)
            }
        }
        let isCurrent = state.withLock { state in
            // Another request for the slot may have begun since the task was created. In that case, cancel the new
            // task.
            guard state.slot.accepts(ticket) else { return false }
            state.task = task
            return true
        }
        if !isCurrent { task.cancel() }
    }

    private func change(_ body: (inout Slot) -> Bool) {
        if state.withLock({ body(&$0.slot) }) { notify() }
    }

    private func notify() {
        queue.async { [weak self] in
            guard let self else { return }
            // Read `slot` here, not when the closure was queued. Its value may have changed since then.
            changed(slot)
        }
    }
}
