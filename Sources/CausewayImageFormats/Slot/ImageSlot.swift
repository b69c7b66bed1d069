internal import Synchronization

/// The state of one image in a user interface, such as an image view, a list row or a button state.
///
/// The slot performs no I/O. It decides what to draw while images arrive late, out of order or not at all: each request has a
/// ``Ticket``, and an image is accepted only with the ticket of the latest request. `ImageBinding` connects a slot with an `ImageLoader`.
///
/// ```swift
/// var slot = ImageSlot<URL, Picture>(placeholder: grey, fade: .milliseconds(250))
/// let ticket = slot.begin(url)
/// // later, in any order
/// slot.finish(.success(picture), for: ticket, wasLoaded: true, at: now)
/// ```
public struct ImageSlot<ID: Hashable & Sendable, Picture: Sendable>: Sendable {
    /// Identifies one image request that was made for a slot. Each ticket is unique in the process.
    public struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// A slot's state.
    public enum State: Sendable {
        /// No image is requested.
        case empty
        /// An image is loading. A preview may exist already.
        case loading(preview: Picture?)
        /// The image is loaded.
        case image(Picture)
        /// Loading failed.
        case failed(any Error)
    }

    /// The current state.
    public private(set) var state = State.empty
    /// The requested image.
    public private(set) var id: ID?
    /// The picture to draw until an image is loaded.
    public let placeholder: Picture?
    /// The picture to draw after a failure.
    public let failurePicture: Picture?
    /// The fade-in duration for a loaded image.
    public let fade: Duration
    private var ticket: Ticket?
    private var fadeStart: Duration?

    /// Creates an empty slot.
    ///
    /// - Parameters:
    ///   - placeholder: Drawn until an image is loaded.
    ///   - failurePicture: Drawn after a failure. The default is the placeholder.
    ///   - fade: The fade-in duration for a loaded image. An image from memory is visible at once.
    public init(placeholder: Picture? = nil, failurePicture: Picture? = nil, fade: Duration = .zero) {
        self.placeholder = placeholder
        self.failurePicture = failurePicture ?? placeholder
        self.fade = max(fade, .zero)
    }

    /// The picture to draw.
    public var picture: Picture? {
        switch state {
        case .empty: placeholder
        case .loading(let preview): preview ?? placeholder
        case .image(let picture): picture
        case .failed: failurePicture
        }
    }

    /// Begins a request for an image, and shows the placeholder. From now on, the slot rejects images that belong to
    /// earlier requests.
    public mutating func begin(_ id: ID) -> Ticket {
        let ticket = Ticket(number: Tickets.last.wrappingAdd(1, ordering: .relaxed).newValue)
        self.id = id
        self.ticket = ticket
        state = .loading(preview: nil)
        fadeStart = nil
        return ticket
    }

    /// Begins a request, unless the slot already shows or loads this image.
    ///
    /// - Returns: `nil` if there is nothing to load.
    public mutating func beginIfNeeded(_ id: ID) -> Ticket? {
        if id == self.id {
            switch state {
            case .loading, .image: return nil
            case .empty, .failed: break
            }
        }
        return begin(id)
    }

    /// Empties the slot, for example because its row is reused. The slot then rejects images for earlier requests.
    public mutating func clear() {
        (id, ticket, fadeStart) = (nil, nil, nil)
        state = .empty
    }

    /// Returns whether the slot still waits for the result of this request.
    public func accepts(_ ticket: Ticket) -> Bool { ticket == self.ticket }

    /// Accepts a preview. Returns whether the slot changed: a preview that arrives too late changes nothing.
    @discardableResult
    public mutating func preview(_ picture: Picture, for ticket: Ticket) -> Bool {
        guard ticket == self.ticket, case .loading = state else { return false }
        state = .loading(preview: picture)
        return true
    }

    /// Accepts the result of an image request. Returns whether the slot changed; a late result does not change it.
    ///
    /// - Parameters:
    ///   - result: The image, or the error.
    ///   - ticket: The request's ticket.
    ///   - wasLoaded: `false` if the image was in memory. It is then visible at once.
    ///   - now: The time, measured from any fixed instant.
    @discardableResult
    public mutating func finish(
        _ result: Result<Picture, any Error>, for ticket: Ticket, wasLoaded: Bool = true, at now: Duration = .zero
    ) -> Bool {
        guard ticket == self.ticket, case .loading = state else { return false }
        self.ticket = nil
        switch result {
        case .success(let picture):
            state = .image(picture)
            fadeStart = wasLoaded && fade > .zero ? now : nil
        case .failure(let error):
            state = .failed(error)
        }
        return true
    }

    /// Returns the image's opacity, from 0 to 1. If it is below 1, draw the placeholder under the image.
    ///
    /// - Parameter now: The time, measured as for ``finish(_:for:wasLoaded:at:)``.
    public func opacity(at now: Duration) -> Double {
        guard case .image = state, let fadeStart else { return 1 }
        return min(1, max(0, (now - fadeStart) / fade))
    }

    /// Returns whether the image is still fading in, so that it must be drawn again.
    public func isFading(at now: Duration) -> Bool { opacity(at: now) < 1 }
}

private enum Tickets {
    static let last = Atomic<UInt64>(0)
}
