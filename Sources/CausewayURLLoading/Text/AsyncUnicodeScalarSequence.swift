/// An asynchronous sequence of the Unicode scalars in a UTF-8 byte sequence. Invalid bytes are decoded as U+FFFD.
///
/// Counterpart: macOS 12, iOS 15.
public struct AsyncUnicodeScalarSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A scalar.
    public typealias Element = UnicodeScalar

    private let base: Base

    init(_ base: Base) { self.base = base }

    /// Returns an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base.makeAsyncIterator()) }

    /// Reads scalars.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var base: Base.AsyncIterator
        /// Decoded scalars in reverse order: the next scalar is the last element of the array.
        private var decoded: [UnicodeScalar] = []
        /// The bytes of a scalar that may still be incomplete.
        private var pending: [UInt8] = []

        init(_ base: Base.AsyncIterator) { self.base = base }

        /// Returns the next scalar, or `nil` at the end.
        public mutating func next() async rethrows -> UnicodeScalar? {
            while decoded.isEmpty {
                guard let byte = try await base.next() else { return last() }
                if let scalar = scalar(endingWith: byte) { return scalar }
            }
            return decoded.popLast()
        }

        /// Returns the next scalar like ``next()``, in the caller's isolation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(Base.Failure) -> UnicodeScalar? {
            while decoded.isEmpty {
                guard let byte = try await base.next(isolation: actor) else { return last() }
                if let scalar = scalar(endingWith: byte) { return scalar }
            }
            return decoded.popLast()
        }

        /// Adds a byte. Returns the next scalar if it is complete.
        private mutating func scalar(endingWith byte: UInt8) -> UnicodeScalar? {
            if pending.isEmpty, byte < 0x80 { return UnicodeScalar(byte) }
            if !pending.isEmpty, byte & 0xC0 != 0x80 {
                // The byte belongs to the next scalar, so the pending scalar is incomplete.
                decodePending()
                if byte < 0x80 {
                    decoded.insert(UnicodeScalar(byte), at: 0)
                    return decoded.popLast()
                }
            }
            pending.append(byte)
            if pending.count == Self.length(of: pending[0]) {
                let earlier = decoded
                decodePending()
                decoded += earlier
            }
            return decoded.popLast()
        }

        /// Returns the next scalar that remains after the end of the input. Returns `nil` if none remains.
        private mutating func last() -> UnicodeScalar? {
            if !pending.isEmpty { decodePending() }
            return decoded.popLast()
        }

        private mutating func decodePending() {
            decoded = String(decoding: pending, as: UTF8.self).unicodeScalars.reversed()
            pending.removeAll(keepingCapacity: true)
        }

        /// Returns an encoded scalar's length in bytes, determined by its first byte (RFC 3629 §3).
        private static func length(of first: UInt8) -> Int {
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        }
    }
}

extension AsyncUnicodeScalarSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncUnicodeScalarSequence.AsyncIterator: Sendable {}
