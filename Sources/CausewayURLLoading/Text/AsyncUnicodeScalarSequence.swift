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
        /// Decoded scalars in reverse order: the next one is the last element.
        private var decoded: [UnicodeScalar] = []
        /// The first byte of the next scalar, if it has already been read.
        private var leftover: UInt8?

        init(_ base: Base.AsyncIterator) { self.base = base }

        /// Returns the next scalar, or `nil` at the end.
        public mutating func next() async rethrows -> UnicodeScalar? {
            if let scalar = decoded.popLast() { return scalar }
            guard let first = try await nextByte() else { return nil }
            if first < 0x80 { return UnicodeScalar(first) }
            var bytes = [first]
            while bytes.count < Self.length(of: first) {
                guard let byte = try await nextByte() else { break }
                guard byte & 0xC0 == 0x80 else {
                    leftover = byte
                    break
                }
                bytes.append(byte)
            }
            decoded = String(decoding: bytes, as: UTF8.self).unicodeScalars.reversed()
            return decoded.popLast()
        }

        private mutating func nextByte() async rethrows -> UInt8? {
            if let byte = leftover {
                leftover = nil
                return byte
            }
            return try await base.next()
        }

        /// Returns the length of an encoded scalar in bytes, determined by its first byte (RFC 3629 §3).
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
