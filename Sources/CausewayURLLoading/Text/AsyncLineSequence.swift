/// An asynchronous sequence of the lines in a UTF-8 byte sequence. Empty lines are skipped.
///
/// A line ends with LF, CR LF, CR, U+000B, U+000C, U+0085, U+2028 or U+2029. The last line needs no terminator.
///
/// Counterpart: macOS 12, iOS 15.
public struct AsyncLineSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A line without its terminator.
    public typealias Element = String

    private let base: Base

    init(_ base: Base) { self.base = base }

    /// Returns an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base.makeAsyncIterator()) }

    /// Reads lines.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var base: Base.AsyncIterator
        private var line: [UInt8] = []

        init(_ base: Base.AsyncIterator) { self.base = base }

        /// Returns the next non-empty line, or `nil` at the end.
        @inlinable
        public mutating func next() async rethrows -> String? {
            while let byte = try await base.next() {
                if let line = line(endingWith: byte) { return line }
            }
            return takeLine()
        }

        /// Returns the next line like ``next()``, in the caller's isolation.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> String? {
            while let byte = try await base.next(isolation: actor) {
                if let line = line(endingWith: byte) { return line }
            }
            return takeLine()
        }

        /// Adds a byte. If the byte ends a line that is not empty, returns the line.
        @usableFromInline
        mutating func line(endingWith byte: UInt8) -> String? {
            line.append(byte)
            let end = Self.countOfLineEnd(line)
            guard end > 0 else { return nil }
            line.removeLast(end)
            return takeLine()
        }

        /// Returns the added bytes as a line; `nil` if there are none.
        @usableFromInline
        mutating func takeLine() -> String? {
            guard !line.isEmpty else { return nil }
            defer { line.removeAll(keepingCapacity: true) }
            return String(decoding: line, as: UTF8.self)
        }

        /// Returns the length in bytes of the line terminator at the end of `bytes`, or 0 if there is none.
        private static func countOfLineEnd(_ bytes: [UInt8]) -> Int {
            guard let last = bytes.last else { return 0 }
            switch last {
            case 0x0A...0x0D: return 1
            case 0x85: return bytes.dropLast().last == 0xC2 ? 2 : 0
            case 0xA8, 0xA9: return bytes.count >= 3 && bytes.suffix(3).starts(with: [0xE2, 0x80]) ? 3 : 0
            default: return 0
            }
        }
    }
}

extension AsyncLineSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncLineSequence.AsyncIterator: Sendable {}
