public import DequeModule

/// A first-in first-out queue that stores its first element without heap allocation.
///
/// Most connections have exactly one pending receive call. With this type, such a connection needs no heap buffer for
/// its receive queue. The type is `public` only because the compiler does not specialize `package` types across
/// modules. Programs cannot use the type, because no product of the package contains this module.
@frozen public struct InlineFirstQueue<Element> {
    /// The first element; `nil` if the queue is empty.
    public var first: Element?
    /// All elements except the first.
    public var rest: Deque<Element> = []

    /// Creates an empty queue.
    @inlinable public init() {}

    /// Whether the queue has no elements.
    @inlinable public var isEmpty: Bool { first == nil }
    /// The number of elements.
    @inlinable public var count: Int { first == nil ? 0 : 1 + rest.count }

    /// Adds an element to the end.
    @inlinable public mutating func append(_ element: Element) {
        if first == nil { first = element } else { rest.append(element) }
    }

    /// Adds an element to the front.
    @inlinable public mutating func prepend(_ element: Element) {
        if let head = first { rest.prepend(head) }
        first = element
    }

    /// Removes and returns the first element; `nil` if the queue is empty.
    @inlinable public mutating func popFirst() -> Element? {
        let element = first.take()
        if element != nil { first = rest.popFirst() }
        return element
    }

    /// Removes the first element, if there is one.
    @inlinable public mutating func dropFirst() { first = rest.popFirst() }

    /// Removes and returns all elements, in order.
    @inlinable public mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        rest = []
        return all
    }

    /// Removes and returns the first element that satisfies the predicate; `nil` if there is none.
    @inlinable public mutating func removeFirst(where predicate: (Element) -> Bool) -> Element? {
        if let head = first, predicate(head) { return popFirst() }
        guard let index = rest.firstIndex(where: predicate) else { return nil }
        return rest.remove(at: index)
    }
}

extension InlineFirstQueue: Sendable where Element: Sendable {}
