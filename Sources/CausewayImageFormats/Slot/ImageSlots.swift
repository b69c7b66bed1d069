/// The slots of a control with several states, such as a button that is normal, highlighted or disabled.
///
/// A state without an image is drawn with the image of the first one.
public struct ImageSlots<State: Hashable & Sendable, ID: Hashable & Sendable, Picture: Sendable>: Sendable {
    /// The state whose image stands in for those of others.
    public let first: State
    private let empty: ImageSlot<ID, Picture>
    private var slots: [State: ImageSlot<ID, Picture>] = [:]

    /// Makes slots.
    ///
    /// - Parameters:
    ///   - first: The state whose image stands in for those of others.
    ///   - slot: An empty slot, with the placeholder and the fade of all.
    public init(first: State, slot: ImageSlot<ID, Picture>) {
        self.first = first
        empty = slot
    }

    /// The slot of a state.
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
