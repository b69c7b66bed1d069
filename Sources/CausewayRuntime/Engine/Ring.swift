/// A first-in first-out queue that moves its elements and never copies them.
///
/// The event loop stores its jobs and pending program callbacks in such queues. The elements are in raw memory, and the
/// queue's object contains only a pointer and integers. An array property would be slower: each use would check
/// exclusive access, and would retain and release the element.
package final class Ring<Element> {
    private static var smallest: Int { 2 }
    /// The maximum storage size, in bytes, that an empty queue keeps. A burst can make the storage larger. The storage
    /// is then halved each time the queue becomes empty.
    private static var keptByteCount: Int { 64 << 10 }

    private var storage = UnsafeMutablePointer<Element>.allocate(capacity: Ring.smallest)
    /// The storage's capacity in elements; a power of two.
    private var capacity = Ring.smallest
    private var head = 0
    private var length = 0

    package init() {}

    package var count: Int { length }
    package var isEmpty: Bool { length == 0 }
    /// The oldest element.
    package var first: Element? { length == 0 ? nil : (storage + head).pointee }

    package func append(_ element: consuming Element) {
        if length == capacity { resize(to: 2 * capacity) }
        (storage + ((head + length) & (capacity - 1))).initialize(to: element)
        length += 1
    }

    package func popFirst() -> Element? {
        guard length > 0 else { return nil }
        let element = (storage + head).move()
        head = (head + 1) & (capacity - 1)
        length -= 1
        if length == 0, capacity > Self.smallest, capacity * MemoryLayout<Element>.stride > Self.keptByteCount {
            resize(to: capacity / 2)
        }
        return element
    }

    @inline(never)
    private func resize(to wanted: Int) {
        let other = UnsafeMutablePointer<Element>.allocate(capacity: wanted)
        for position in 0..<length {
            (other + position).moveInitialize(from: storage + ((head + position) & (capacity - 1)), count: 1)
        }
        storage.deallocate()
        (storage, head, capacity) = (other, 0, wanted)
    }

    deinit {
        while popFirst() != nil {}
        storage.deallocate()
    }
}
