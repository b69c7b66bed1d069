/// An asynchronous sequence of the characters in a UTF-8 byte sequence.
///
/// A character of more than 128 Unicode scalars is split, so that endless combining marks cause neither unbounded
/// memory use nor more and more work for each scalar.
///
/// Counterpart: macOS 12, iOS 15.
public struct AsyncCharacterSequence<Base: AsyncSequence>: AsyncSequence where Base.Element == UInt8 {
    /// A character.
    public typealias Element = Character

    private let base: Base

    init(_ base: Base) { self.base = base }

    /// Returns an iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(AsyncUnicodeScalarSequence(base).makeAsyncIterator())
    }

    /// Reads characters.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var base: AsyncUnicodeScalarSequence<Base>.AsyncIterator
        /// The scalars of the character that is being read. The next scalar may still belong to it.
        private var pending = ""
        private var pendingCount = 0

        init(_ base: AsyncUnicodeScalarSequence<Base>.AsyncIterator) { self.base = base }

        /// Returns the next character, or `nil` at the end. A character is complete only when the next one starts or the sequence ends.
        public mutating func next() async rethrows -> Character? {
            while let scalar = try await base.next() {
                if let character = character(before: scalar) { return character }
            }
            return pending.isEmpty ? nil : pending.removeFirst()
        }

        /// Returns the next character like ``next()``, in the caller's isolation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Base.Failure) -> Character? {
            while let scalar = try await base.next(isolation: actor) {
                if let character = character(before: scalar) { return character }
            }
            return pending.isEmpty ? nil : pending.removeFirst()
        }

        /// Adds a scalar, and returns the previous character if that character is complete.
        ///
        /// It is complete if the scalar starts a new character, or if it has the maximum length.
        private mutating func character(before scalar: UnicodeScalar) -> Character? {
            guard pendingCount < Self.maximumLength else {
                let character = pending.removeFirst()
                pending.unicodeScalars.append(scalar)
                pendingCount = 1
                return character
            }
            pending.unicodeScalars.append(scalar)
            pendingCount += 1
            let second = pending.index(after: pending.startIndex)
            guard second < pending.endIndex else { return nil }
            pendingCount = 1
            return pending.removeFirst()
        }

        /// The maximum number of scalars in a character. After each scalar, the whole pending character is searched for
        /// its end. The limit bounds the time for this search. It splits no ordinary character: the longest emoji have
        /// about ten scalars, and text in Unicode's stream-safe format has at most 30 combining marks in a row (UAX #15
        /// §13).
        private static var maximumLength: Int { 128 }
    }
}

extension AsyncCharacterSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension AsyncCharacterSequence.AsyncIterator: Sendable {}

extension AsyncSequence where Element == UInt8 {
    /// The text's lines. Empty lines are skipped.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var lines: AsyncLineSequence<Self> { AsyncLineSequence(self) }

    /// The text's characters.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var characters: AsyncCharacterSequence<Self> { AsyncCharacterSequence(self) }

    /// The text's Unicode scalars.
    ///
    /// Counterpart: macOS 12, iOS 15.
    public var unicodeScalars: AsyncUnicodeScalarSequence<Self> { AsyncUnicodeScalarSequence(self) }
}
