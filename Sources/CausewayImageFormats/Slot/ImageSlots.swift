/// The slots for a control with several states, such as a button that is normal, highlighted or disabled.
///
/// A state without an image is drawn with the first state's image.
public struct ImageSlots<State: Hashable & Sendable, ID: Hashable & Sendable, Picture: Sendable>: Sendable {
    /// The state whose image replaces missing images in other states.
    public let first: State
    private let empty: ImageSlot<ID, Picture>
    private var slots: [State: ImageSlot<ID, Picture>] = [:]

    /// Creates slots.
    ///
    /// - Parameters:
    ///   - first: The state whose image replaces missing images in other states.
    ///   - slot: An empty slot with the placeholder and the fade for all states.
    public init(first: State, slot: ImageSlot<ID, Picture>) {
        self.first = first
        empty = slot
    }

    /// The image slot for a control state.
    public subscript(state: State) -> ImageSlot<ID, Picture> {
        get { slots[state] ?? empty }
        set { slots[state] = newValue }
    }

    /// Returns the picture to draw in a state.
    public func picture(in state: State) -> Picture? {
        switch self[state].state {
        case .empty where state != first: self[first].picture
        case .empty, .loading, .image, .failed: self[state].picture
        }
    }

    /// Empties all slots.
    public mutating func clear() { slots = [:] }
}
